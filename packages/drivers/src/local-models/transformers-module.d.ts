/** The optional package where it is not installed: what is used of it is written out in these types. */
declare module '@huggingface/transformers' {
  /* oxlint-disable typescript/consistent-type-imports -- an ambient module takes no relative import */
  export const pipeline: import('../embedders/transformers-embedder.ts').TransformersLib['pipeline']
  export const AutoTokenizer: import('../rerankers/transformers-reranker.ts').CrossEncoderLib['AutoTokenizer']
  export const AutoModelForSequenceClassification: import('../rerankers/transformers-reranker.ts').CrossEncoderLib['AutoModelForSequenceClassification']
}
