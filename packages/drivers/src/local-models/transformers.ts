/** How the token vectors of a text are combined; the page of the model says which it was trained with. */
export type Pooling = 'mean' | 'cls' | 'last_token'

type LoadOptions = Readonly<Record<string, unknown>>

/** The part of `@huggingface/transformers` that is used to embed: a loaded model returns a row for each text. */
export interface TransformersLib {
  readonly pipeline: (
    task: 'feature-extraction',
    model: string,
    options: LoadOptions,
  ) => Promise<
    (texts: string[], options: { readonly pooling: Pooling; readonly normalize: boolean }) => Promise<FeatureTensor>
  >
}

/** The part of `@huggingface/transformers` that is used to rerank: a loaded model returns a row of scores for each pair. */
export interface CrossEncoderLib {
  readonly AutoTokenizer: {
    readonly from_pretrained: (
      model: string,
      options: LoadOptions,
    ) => Promise<
      (
        queries: string[],
        options: { readonly text_pair: string[]; readonly padding: boolean; readonly truncation: boolean },
      ) => unknown
    >
  }
  readonly AutoModelForSequenceClassification: {
    readonly from_pretrained: (
      model: string,
      options: LoadOptions,
    ) => Promise<(inputs: unknown) => Promise<{ readonly logits: FeatureTensor }>>
  }
}

export interface FeatureTensor {
  readonly dims: readonly number[]
  readonly data: ArrayLike<number>
  /** Frees memory outside the heap. */
  readonly dispose?: () => void
}
