/** The optional package where it is not installed: what is used of it is written out in `TransformersLib`. */
declare module '@huggingface/transformers' {
  // oxlint-disable-next-line typescript/consistent-type-imports -- an ambient module takes no relative import
  export const pipeline: import('./transformers-embedder.ts').TransformersLib['pipeline']
}
