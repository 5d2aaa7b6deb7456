import type {
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider'
import type { ResolvedModel } from '@inlay/agent'

/** A model with a tap hands its text to a listener first, and reads streams that its SDK does not understand. */
export async function openStream(
  model: ResolvedModel['model'],
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4StreamResult> {
  if (!('doStreamTapped' in model)) return model.doStream(options)
  let controller: ReadableStreamDefaultController<LanguageModelV4StreamPart> | undefined
  let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined = undefined
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start: (opened) => void (controller = opened),
    cancel: (reason) => {
      controller = undefined
      return reader?.cancel(reason)
    },
  })
  let open: 'text' | 'reasoning' | undefined
  const switchTo = (kind: typeof open): void => {
    if (kind === open) return
    if (open) controller?.enqueue({ type: `${open}-end`, id: open })
    if (kind) controller?.enqueue({ type: `${kind}-start`, id: kind })
    open = kind
  }
  const write = (kind: 'text' | 'reasoning', delta: string): void => {
    switchTo(kind)
    controller?.enqueue({ type: `${kind}-delta`, id: kind, delta })
  }
  const result = await model.doStreamTapped(options, {
    onText: (delta) => write('text', delta),
    onReasoning: (delta) => write('reasoning', delta),
  })
  reader = result.stream.getReader()
  const pass = async (source: ReadableStreamDefaultReader<LanguageModelV4StreamPart>): Promise<void> => {
    for (let part = await source.read(); !part.done; part = await source.read()) {
      if (/^(?:text|reasoning)-/.test(part.value.type)) continue
      switchTo(undefined)
      controller?.enqueue(part.value)
    }
    controller?.close()
  }
  pass(reader).catch((error: unknown) => controller?.error(error))
  return { ...result, stream }
}
