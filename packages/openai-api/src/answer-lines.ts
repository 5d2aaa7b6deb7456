import { errorTable, InlayError, type ErrorCode, type StreamLine, type Usage } from '@inlay/protocol'
import type { LogEntry } from '@inlay/agent'
import { publicAddress, type RouteContext } from '@inlay/server'
import { createCitedText, type CitedText } from './cited-text.ts'

/** What a line of a run is for clients of OpenAI's API. */
export type AnswerEvent =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'stop'; readonly reason: FinishReason; readonly usage: Usage | undefined }
  | { readonly type: 'error'; readonly error: InlayError }

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** The line of a log entry, which the engine wrote. */
export const lineOf = ({ json }: LogEntry): StreamLine => JSON.parse(json) as StreamLine

/** @param urlOf the address of a document without a link, see {@link documentUrls} */
export function createAnswerReader(urlOf: (documentId: string) => string): {
  readonly cited: CitedText
  /** Own tools give no events, and after an error or a stop there are none. */
  take(line: StreamLine): readonly AnswerEvent[]
  /** Takes the end of the lines: an error, unless the answer was complete. */
  end(): readonly AnswerEvent[]
} {
  const cited = createCitedText(urlOf)
  let isOver = false
  const fail = (error: InlayError): AnswerEvent[] => {
    isOver = true
    return [{ type: 'error', error }]
  }
  const take = (line: StreamLine): readonly AnswerEvent[] => {
    if (isOver) return []
    if ('error' in line) return fail(runError(line))
    if (!('obj' in line)) return []
    const { obj } = line
    const text = cited.take(obj)
    switch (obj.type) {
      case 'message_delta':
        return text === '' ? [] : [{ type: 'text', text }]
      case 'reasoning_delta':
        return [{ type: 'reasoning', text: obj.reasoning }]
      case 'client_tool_call':
        return [{ type: 'call', id: obj.tool_call_id, name: obj.tool_name, arguments: obj.arguments }]
      case 'tool_approval_request':
        return fail(
          new InlayError('DEPLOYMENT_UNSUPPORTED', {
            message: `The tool "${obj.display_name}" waits for the approval of a person, which this API cannot ask for: use Inlay’s page or its own API.`,
          }),
        )
      case 'stop': {
        const reason = finishReasonOf(obj.stop_reason)
        if (reason === undefined) return fail(new InlayError('GONE', { message: 'The answer was stopped.' }))
        isOver = true
        return [{ type: 'stop', reason, usage: obj.usage }]
      }
      default:
        return []
    }
  }
  const end = (): readonly AnswerEvent[] =>
    isOver ? [] : fail(new InlayError('SERVICE_UNAVAILABLE', { message: 'The answer broke off: try again.' }))
  return { cited, take, end }
}

/** The reason to finish; undefined for an answer that was stopped. */
function finishReasonOf(reason: string | null): FinishReason | undefined {
  if (reason === null) return 'stop'
  return (['length', 'tool_calls', 'content_filter'] as const).find((known) => known === reason)
}

function runError(line: Extract<StreamLine, { readonly error: string }>): InlayError {
  const isKnown = (code: string | null): code is ErrorCode => code !== null && Object.hasOwn(errorTable, code)
  const code = isKnown(line.error_code) ? line.error_code : 'UNKNOWN_ERROR'
  return new InlayError(code, { message: line.error, retryable: line.is_retryable })
}

/** Addresses of documents without a link: in the page, else the text as it was indexed, which a key has to open. */
export function documentUrls({
  request,
  settings,
}: Pick<RouteContext<unknown, unknown, unknown>, 'request' | 'settings'>): (id: string) => string {
  const { origin, hasPage } = publicAddress(request)
  const path = hasPage ? '/#document?id=' : `${settings.basePath}/document/chunks?document_id=`
  return (id) => origin + path + encodeURIComponent(id)
}
