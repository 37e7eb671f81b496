/**
 * As much of a document as Observable Plot needs to build a chart: elements that have attributes and children, and become
 * text. A chart gets what a report adds to it: numbers of few digits, which make it small, and no style of its own. Its
 * parts have no labels: it is one picture with a description.
 */

const ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text for a page; characters that no page may hold are left out. */
export function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out.
  return text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd').replace(/[&<>"]/g, (c) => ESCAPED[c] ?? c);
}

class SvgText {
  readonly data: string;
  parentNode: SvgElement | null = null;

  constructor(data: string) {
    this.data = data;
  }

  toString(): string {
    return escaped(this.data);
  }
}

type SvgNode = SvgText | SvgElement;

class SvgElement {
  readonly ownerDocument: SvgDocument;
  readonly tagName: string;
  readonly namespaceURI = 'http://www.w3.org/2000/svg';
  /** Set where a chart is styled, which a report does with its own sheet. */
  readonly style = { setProperty: () => {} };
  parentNode: SvgElement | null = null;
  childNodes: SvgNode[] = [];
  readonly #attributes = new Map<string, string>();

  constructor(ownerDocument: SvgDocument, tagName: string) {
    this.ownerDocument = ownerDocument;
    this.tagName = tagName;
  }

  setAttribute(name: string, value: unknown): void {
    this.#attributes.set(name, String(value));
  }

  setAttributeNS(_: string, name: string, value: unknown): void {
    this.setAttribute(name, value);
  }

  getAttribute(name: string): string | null {
    return this.#attributes.get(name) ?? null;
  }

  removeAttribute(name: string): void {
    this.#attributes.delete(name);
  }

  appendChild<Node extends SvgNode>(node: Node): Node {
    this.childNodes.push(node);
    node.parentNode = this;
    return node;
  }

  insertBefore<Node extends SvgNode>(node: Node, next: SvgNode | null): Node {
    if (next === null) return this.appendChild(node);
    this.childNodes.splice(this.childNodes.indexOf(next), 0, node);
    node.parentNode = this;
    return node;
  }

  append(...nodes: readonly (SvgNode | string)[]): void {
    for (const node of nodes) this.appendChild(typeof node === 'string' ? new SvgText(node) : node);
  }

  set textContent(text: unknown) {
    this.childNodes = [];
    if (text !== '' && text !== null) this.append(String(text));
  }

  toString(): string {
    if (this.tagName === 'style') return '';
    const named = [...this.#attributes].filter(([name]) => !name.startsWith('aria-') || this.tagName === 'svg');
    const attributes = named.map(([name, value]) => ` ${name}="${escaped(shortened(name, value))}"`);
    return `<${this.tagName}${attributes.join('')}>${this.childNodes.join('')}</${this.tagName}>`;
  }
}

/** A tenth of a pixel is too small to see; of opacities two digits count. */
function shortened(name: string, value: string): string {
  if (name.startsWith('aria-')) return value;
  const digits = name.includes('opacity') ? 2 : 1;
  return value.replace(/\d+\.\d{2,}(?:e-\d+)?/g, (number) => String(Number(Number(number).toFixed(digits))));
}

export class SvgDocument {
  readonly defaultView = {};
  readonly documentElement = new SvgElement(this, 'html');

  createElementNS(_: string, name: string): SvgElement {
    return new SvgElement(this, name);
  }

  createElement(name: string): SvgElement {
    return new SvgElement(this, name);
  }

  createTextNode(text: unknown): SvgText {
    return new SvgText(String(text));
  }
}
