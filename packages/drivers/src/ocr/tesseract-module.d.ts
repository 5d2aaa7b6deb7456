/** The optional package where it is not installed: what is used of it is written out in these types. */
declare module 'tesseract.js' {
  /* oxlint-disable typescript/consistent-type-imports -- an ambient module takes no relative import */
  export const createWorker: import('./index.ts').TesseractLib['createWorker']
}
