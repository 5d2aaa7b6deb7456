/** Types of the used part of the optional package, which may not be installed. */
declare module '@huggingface/transformers' {
  /* oxlint-disable typescript/consistent-type-imports -- an ambient module takes no relative import */
  export const pipeline: import('./transformers.ts').TransformersLib['pipeline']
  export const AutoTokenizer: import('./transformers.ts').CrossEncoderLib['AutoTokenizer']
  export const AutoModelForSequenceClassification: import('./transformers.ts').CrossEncoderLib['AutoModelForSequenceClassification']
}
