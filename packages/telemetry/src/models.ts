import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import type { ModelProvider, ResolvedModel, StreamListener, TappedModel } from '@inlay/agent'
import type { Embedder } from '@inlay/knowledge'
import { SpanKind, type Attributes } from '@opentelemetry/api'
import type { Instruments } from './instruments.ts'
import { endFailed, errorType, observedBy, startSpan } from './spans.ts'

/** Wraps a provider so that its models record each call: a span, its time, the time to the first output, tokens. */
export function observeModels(provider: ModelProvider, instruments: Instruments): ModelProvider {
  return {
    list: () => provider.list(),
    resolve: async (override) => {
      const resolved = await provider.resolve(override)
      return { ...resolved, model: observeModel(resolved, instruments) }
    },
  }
}

export function observeEmbedder(embedder: Embedder, { modelDuration }: Instruments): Embedder {
  // Ids of our embedders have the form provider/model@dimensions.
  const [, provider, model = embedder.id] = /^([^/]+)\/(.+)@\d+$/.exec(embedder.id) ?? []
  const attributes = {
    'gen_ai.operation.name': 'embeddings',
    'gen_ai.request.model': model,
    ...(provider !== undefined && { 'gen_ai.provider.name': provider }),
  }
  return {
    id: embedder.id,
    dimensions: embedder.dimensions,
    maxBatchSize: embedder.maxBatchSize,
    embed: async (texts, use, signal) => {
      const start = performance.now()
      const { span, within } = startSpan(`embeddings ${model}`, attributes, { kind: SpanKind.CLIENT })
      span.setAttribute('gen_ai.embeddings.dimension.count', embedder.dimensions)
      span.setAttributes({ 'inlay.embedding.use': use, 'inlay.embedding.texts': texts.length })
      const ended = (more: Attributes = {}): void =>
        modelDuration.record((performance.now() - start) / 1000, { ...attributes, ...more })
      try {
        const vectors = await within(() => embedder.embed(texts, use, signal))
        span.end()
        ended()
        return vectors
      } catch (error) {
        endFailed(span, error)
        ended({ 'error.type': errorType(error) })
        throw error
      }
    },
  }
}

function observeModel(
  { model, name, provider }: ResolvedModel,
  instruments: Instruments,
): LanguageModelV4 | TappedModel {
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': name,
  }
  const observed: Partial<TappedModel> = {
    doGenerate: async (options) => {
      const call = new ModelCall(attributes, options, instruments)
      return call.follow(async () => {
        const answer = await model.doGenerate(options)
        call.onUsage(answer.usage, answer.finishReason.unified)
        call.end()
        return answer
      })
    },
    doStream: async (options) => {
      const call = new ModelCall(attributes, options, instruments)
      return call.follow(async () => {
        const answer = await model.doStream(options)
        return { ...answer, stream: call.observed(answer.stream) }
      })
    },
    ...('doStreamTapped' in model && {
      doStreamTapped: async (options, listener) => {
        const call = new ModelCall(attributes, options, instruments)
        return call.follow(async () => {
          const answer = await model.doStreamTapped(options, call.listening(listener))
          return { ...answer, stream: call.observed(answer.stream) }
        })
      },
    }),
  }
  return observedBy(model, observed)
}

/** A call of a language model, from its request to the end of its stream. */
class ModelCall {
  readonly #attributes: Attributes
  readonly #instruments: Instruments
  readonly #start = performance.now()
  readonly #span
  readonly #within
  #hasOutput = false
  #hasEnded = false

  constructor(attributes: Attributes, options: LanguageModelV4CallOptions, instruments: Instruments) {
    this.#attributes = attributes
    this.#instruments = instruments
    const { span, within } = startSpan(`chat ${String(attributes['gen_ai.request.model'])}`, attributes, {
      kind: SpanKind.CLIENT,
    })
    this.#span = span
    this.#within = within
    if (options.temperature !== undefined) span.setAttribute('gen_ai.request.temperature', options.temperature)
    if (options.maxOutputTokens !== undefined) span.setAttribute('gen_ai.request.max_tokens', options.maxOutputTokens)
  }

  /** Runs the call; a failure ends it. */
  async follow<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#within(work)
    } catch (error) {
      this.fail(error)
      throw error
    }
  }

  listening(listener: StreamListener): StreamListener {
    return {
      onText: (delta) => {
        this.#onOutput()
        listener.onText(delta)
      },
      onReasoning: (delta) => {
        this.#onOutput()
        listener.onReasoning(delta)
      },
    }
  }

  /** Returns the same stream; the call ends with it, with an error part, or when the reader cancels. */
  observed(stream: ReadableStream<LanguageModelV4StreamPart>): ReadableStream<LanguageModelV4StreamPart> {
    const reader = stream.getReader()
    return new ReadableStream<LanguageModelV4StreamPart>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read()
            if (done) {
              this.end()
              controller.close()
            } else {
              this.#onPart(value)
              controller.enqueue(value)
            }
          } catch (error) {
            this.fail(error)
            controller.error(error)
          }
        },
        cancel: async (reason) => {
          this.fail(reason)
          await reader.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
  }

  onUsage({ inputTokens, outputTokens }: LanguageModelV4Usage, finishReason: string): void {
    this.#span.setAttribute('gen_ai.response.finish_reasons', [finishReason])
    this.#count('input', inputTokens.total)
    this.#count('output', outputTokens.total)
    if (inputTokens.cacheRead !== undefined)
      this.#span.setAttribute('gen_ai.usage.cache_read.input_tokens', inputTokens.cacheRead)
  }

  end(): void {
    if (this.#recordEnd({})) this.#span.end()
  }

  fail(error: unknown): void {
    if (this.#recordEnd({ 'error.type': errorType(error) })) endFailed(this.#span, error)
  }

  #onPart(part: LanguageModelV4StreamPart): void {
    if (part.type === 'text-delta' || part.type === 'reasoning-delta' || part.type === 'tool-input-start')
      this.#onOutput()
    if (part.type === 'finish') this.onUsage(part.usage, part.finishReason.unified)
    if (part.type === 'error') this.fail(part.error)
  }

  #onOutput(): void {
    if (this.#hasOutput) return
    this.#hasOutput = true
    this.#instruments.timeToFirstChunk.record(this.#seconds(), this.#attributes)
  }

  #count(type: 'input' | 'output', tokens: number | undefined): void {
    if (tokens === undefined || !Number.isFinite(tokens)) return
    this.#span.setAttribute(`gen_ai.usage.${type}_tokens`, tokens)
    this.#instruments.tokens.record(tokens, { ...this.#attributes, 'gen_ai.token.type': type })
  }

  #recordEnd(more: Attributes): boolean {
    if (this.#hasEnded) return false
    this.#hasEnded = true
    this.#instruments.modelDuration.record(this.#seconds(), { ...this.#attributes, ...more })
    return true
  }

  #seconds(): number {
    return (performance.now() - this.#start) / 1000
  }
}
