/** The commands of a page: lines of its blocks of code, fenced or indented, that call pileshuf. */

const CALL = /(?:^|[|&;(]\s*|\b(?:npx|exec|then|do) )pileshuf [^ ]/;

export function commandsOf(text: string): string[] {
  const fenced = [...text.matchAll(/^```(\w*)\n(.*?)^```/gms)];
  const programs = /^(?:js|ts|json|yaml|python|mermaid)$/;
  const blocks = fenced.flatMap(([, kind = '', block = '']) => (programs.test(kind) ? [] : [block]));
  const rest = text.replace(/^```.*?^```/gms, '');
  for (const [block] of rest.matchAll(/(?:^ {4}.*\n)+/gm)) blocks.push(block);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'));
  return lines.map((line) => line.trim().replace(/ +#.*$/, '')).filter((line) => CALL.test(line));
}
