/**
 * Repairs the output of models and servers that do not keep to the API:
 *
 * - calls written as text, in the formats of about thirty model families, become tool calls, and their markup is
 *   removed
 * - reasoning between tags such as `<think>` becomes reasoning
 * - nearly valid arguments become JSON, and a tool name with a namespace becomes the tool's name
 *
 * `modelRepair` is a middleware for `wrapLanguageModel` of the AI SDK. `repairModel` does the same and keeps the
 * streaming tap of a model; Inlay applies it to models that call no tools by themselves.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Middleware,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider'
import type { ModelProvider, StreamListener, TappedModel } from '@inlay/agent'
import { createLongDeltas } from './long-deltas.ts'
import { OutputRepair, repairArguments, type RepairState } from './output-repair.ts'
import type { TextCall } from './text-call-formats.ts'

/** What the middleware has learned of a model, as long as somebody holds the model. */
const states = new WeakMap<object, RepairState>()

function stateOf(model: object): RepairState {
  const state = states.get(model) ?? {}
  states.set(model, state)
  return state
}

/**
 * The repairs as a middleware of the AI SDK.
 * @example
 * const model = wrapLanguageModel({ model: ollama('qwen3'), middleware: modelRepair })
 */
export const modelRepair: LanguageModelV4Middleware = {
  specificationVersion: 'v4',
  wrapGenerate: async ({ doGenerate, params, model }) => repairResult(await doGenerate(), params, stateOf(model)),
  wrapStream: async ({ doStream, params, model }) => {
    const result = await doStream()
    return { ...result, stream: result.stream.pipeThrough(new TransformStream(streamRepair(params, stateOf(model)))) }
  },
}

const repaired = new WeakSet<object>()

/**
 * Repairs the output of a model. A repaired model is returned unchanged.
 * @param state what is learned of the model; for a model that is made anew for each call, an object that stays. Default: what was learned of this object
 */
export function repairModel(model: LanguageModelV4 | TappedModel, state: RepairState = stateOf(model)): TappedModel {
  // The set only contains models that this function wrapped, which have a tap.
  if (repaired.has(model)) return model as TappedModel
  const wrapped: TappedModel = {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    // Lazy, since it may load the SDK of the provider.
    get supportedUrls() {
      return model.supportedUrls
    },
    doGenerate: async (options) => repairResult(await model.doGenerate(options), options, state),
    doStream: async (options) => {
      const result = await model.doStream(options)
      return { ...result, stream: result.stream.pipeThrough(new TransformStream(streamRepair(options, state))) }
    },
    doStreamTapped: (options, listener) => streamTapped(model, options, listener, state),
  }
  repaired.add(wrapped)
  return wrapped
}

/** Repairs the models of a provider, except those that only quote documents. */
export function repairModels(provider: ModelProvider): ModelProvider {
  const states = new Map<string, RepairState>()
  const stateOf = (name: string): RepairState => {
    const state = states.get(name) ?? {}
    states.set(name, state)
    return state
  }
  return {
    list: () => provider.list(),
    resolve: async (override) => {
      const resolved = await provider.resolve(override)
      if (resolved.quotesOnly) return resolved
      return { ...resolved, model: repairModel(resolved.model, stateOf(`${resolved.provider} ${resolved.name}`)) }
    },
  }
}

const toToolCall = ({ name, input }: TextCall): LanguageModelV4ToolCall => ({
  type: 'tool-call',
  // Mistral only accepts ids of nine letters and digits.
  toolCallId: crypto.randomUUID().replaceAll('-', '').slice(0, 9),
  toolName: name,
  input,
})

function repairCall(call: LanguageModelV4ToolCall, repair: OutputRepair): LanguageModelV4ToolCall {
  repair.noteCall()
  if (call.providerExecuted) return call
  return { ...call, toolName: repair.toolName(call.toolName), input: repairArguments(call.input) }
}

/** Servers that do not recognise the calls report that the answer ended normally. */
const endOf = (reason: LanguageModelV4FinishReason, calls: readonly TextCall[]): LanguageModelV4FinishReason =>
  calls.length > 0 && reason.unified === 'stop' ? { ...reason, unified: 'tool-calls' } : reason

function repairResult(
  result: LanguageModelV4GenerateResult,
  options: LanguageModelV4CallOptions,
  state: RepairState,
): LanguageModelV4GenerateResult {
  const content: LanguageModelV4Content[] = []
  const add = (type: 'text' | 'reasoning', text: string): void => {
    const last = content.at(-1)
    if (last?.type === type && last.providerMetadata === undefined) last.text += text
    else content.push({ type, text })
  }
  const repair = new OutputRepair(state, options, {
    onText: (text) => add('text', text),
    onReasoning: (text) => add('reasoning', text),
  })
  const calls: TextCall[] = []
  let hasOwnCalls = false
  for (const part of result.content) {
    if (part.type === 'text') {
      const before = content.length
      repair.onText(part.text)
      calls.push(...repair.endText())
      const [only, ...others] = content.slice(before)
      // Text without repairs keeps the metadata of its provider.
      if (others.length === 0 && only?.type === 'text' && only.text === part.text) content[before] = part
    } else if (part.type === 'reasoning') {
      repair.noteReasoning(part.text)
      content.push(part)
    } else if (part.type === 'tool-call') {
      hasOwnCalls = true
      content.push(repairCall(part, repair))
    } else content.push(part)
  }
  calls.push(...repair.end())
  const added = hasOwnCalls ? [] : calls
  return {
    ...result,
    content: [...content, ...added.map(toToolCall)],
    finishReason: endOf(result.finishReason, added),
  }
}

function streamRepair(
  options: LanguageModelV4CallOptions,
  state: RepairState,
): Transformer<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  let emit: (part: LanguageModelV4StreamPart) => void = () => {}
  /** The current text block of the provider; its start is sent with its first output. */
  let source: Extract<LanguageModelV4StreamPart, { type: 'text-start' }> | undefined
  let open: { readonly type: 'text' | 'reasoning'; readonly id: string } | undefined
  let blocks = 0
  const close = (): void => {
    if (open) emit({ type: `${open.type}-end`, id: open.id })
    open = undefined
  }
  const write = (type: 'text' | 'reasoning', delta: string): void => {
    if (open?.type !== type) {
      close()
      const start = (type === 'text' && source) || ({ type: `${type}-start`, id: `repaired-${++blocks}` } as const)
      emit(start)
      if (start === source) source = undefined
      open = { type, id: start.id }
    }
    emit({ type: `${type}-delta`, id: open.id, delta })
  }
  const repair = new OutputRepair(state, options, {
    onText: (delta) => write('text', delta),
    onReasoning: (delta) => write('reasoning', delta),
  })
  const calls: TextCall[] = []
  let hasOwnCalls = false
  const endText = (): void => {
    calls.push(...repair.endText())
  }
  return {
    transform: (part, controller) => {
      emit = (repairedPart) => controller.enqueue(repairedPart)
      switch (part.type) {
        case 'text-start':
          source = part
          return
        case 'text-delta':
          return repair.onText(part.delta)
        case 'reasoning-delta':
          repair.noteReasoning(part.delta)
          return emit(part)
        case 'text-end': {
          endText()
          const own = open?.id === part.id ? part : undefined
          if (own) {
            open = undefined
            emit(own)
          } else close()
          source = undefined
          return
        }
        case 'tool-input-start':
          endText()
          close()
          return emit({ ...part, toolName: repair.toolName(part.toolName) })
        case 'tool-call':
          endText()
          close()
          hasOwnCalls = true
          return emit(repairCall(part, repair))
        case 'finish': {
          calls.push(...repair.end())
          close()
          const added = hasOwnCalls ? [] : calls
          for (const call of added) emit(toToolCall(call))
          return emit({ ...part, finishReason: endOf(part.finishReason, added) })
        }
        default:
          return emit(part)
      }
    },
    flush: (controller) => {
      emit = (part) => controller.enqueue(part)
      // The stream ended early: emit the text that was held back.
      endText()
      close()
    },
  }
}

/** The listener gets output as it comes; the parts follow with text for later steps, without thoughts and calls. */
async function streamTapped(
  model: LanguageModelV4 | TappedModel,
  options: LanguageModelV4CallOptions,
  listener: StreamListener,
  state: RepairState,
): Promise<LanguageModelV4StreamResult> {
  const repair = new OutputRepair(state, options, listener)
  let isOver = false
  const input = createLongDeltas(repair, () => isOver || options.abortSignal?.aborted === true)
  const isTapped = 'doStreamTapped' in model
  const result = await (isTapped ? model.doStreamTapped(options, input) : model.doStream(options))
  const reader = result.stream.getReader()
  /** Text and reasoning parts, held until it is known whether the text is changed. */
  const held: LanguageModelV4StreamPart[] = []
  let hasOwnCalls = false
  let hasEnded = false

  const toParts = (part: LanguageModelV4StreamPart): readonly LanguageModelV4StreamPart[] => {
    if (part.type === 'text-delta' && !isTapped) input.onText(part.delta)
    if (part.type === 'reasoning-delta' && !isTapped) input.onReasoning(part.delta)
    if (part.type.startsWith('text-') || part.type.startsWith('reasoning-')) {
      held.push(part)
      return []
    }
    if (part.type === 'tool-input-start') {
      repair.endText()
      return [{ ...part, toolName: repair.toolName(part.toolName) }]
    }
    if (part.type === 'tool-call') {
      repair.endText()
      hasOwnCalls = true
      return [repairCall(part, repair)]
    }
    if (part.type !== 'finish') return [part]
    hasEnded = true
    const textCalls = repair.end()
    const calls = hasOwnCalls ? [] : textCalls
    const { changedText } = repair
    const written = changedText === undefined ? held : withText(held, changedText)
    return [...written, ...calls.map(toToolCall), { ...part, finishReason: endOf(part.finishReason, calls) }]
  }

  return {
    ...result,
    stream: new ReadableStream<LanguageModelV4StreamPart>(
      {
        pull: async (controller) => {
          for (;;) {
            const { done, value } = await reader.read().finally(() => input.done)
            await input.done
            if (done) {
              // The stream ended early: emit the text that was held back.
              if (!hasEnded && !isOver) repair.end()
              return controller.close()
            }
            const parts = toParts(value)
            for (const part of parts) controller.enqueue(part)
            if (parts.length > 0) return
          }
        },
        cancel: async (reason) => {
          isOver = true
          await reader.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    ),
  }
}

function withText(parts: readonly LanguageModelV4StreamPart[], text: string): LanguageModelV4StreamPart[] {
  const others = parts.filter(({ type }) => !type.startsWith('text-'))
  if (text.trim() === '') return others
  const id = 'repaired'
  return [...others, { type: 'text-start', id }, { type: 'text-delta', id, delta: text }, { type: 'text-end', id }]
}
