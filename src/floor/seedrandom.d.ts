/** The generator alone: the entry of the package also loads six others, which takes 2 ms at each start. */
declare module 'seedrandom/seedrandom.js' {
  export { default } from 'seedrandom';
}
