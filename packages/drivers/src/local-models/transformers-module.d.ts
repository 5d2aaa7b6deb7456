/** Types of the used part of the optional package, which may not be installed. */
declare module '@huggingface/transformers' {
  /* oxlint-disable typescript/consistent-type-imports -- an ambient module takes no relative import */
  export const pipeline: import('../embedders/transformers-embedder.ts').TransformersLib['pipeline']
  export const AutoTokenizer: import('../rerankers/transformers-reranker.ts').CrossEncoderLib['AutoTokenizer']
  export const AutoModelForSequenceClassification: import('../rerankers/transformers-reranker.ts').CrossEncoderLib['AutoModelForSequenceClassification']
}
