import {
  batchLineSchema,
  ingestionRequestSchema,
  parseJsonBody,
  readLargeRequest,
  validationFailed,
  type BatchLine,
  type Principal,
} from '@inlay/protocol'
import { bodyStream, brokenCompression, createBodyShare, declaredBytes, tooLarge } from '../../http/body.ts'
import { createLimiter, type Limiter } from '@inlay/scheduling'
import { readLines, type BodyLine } from '../../http/body-lines.ts'
import { orderedStream } from '../../streams/ordered-stream.ts'
import { errorBody, reply, toErrorReport, type Reply } from '../../http/replies.ts'
import { routesOf, type Route, type RouteContext } from '../../http/route.ts'

/** Enough to fill a group commit, and to buffer about 100,000 answers before the client has to read. */
const limits = { items: 64, bytes: 16 * 1024 * 1024, answerChars: 16 * 1024 * 1024 }

const route = routesOf('Ingestion', { scope: 'ingest', owner: 'pair' })

export const ingestionBatchRoutes: readonly Route[] = [
  route('POST /service-api/ingestion/batch', 'ingestBatch', 'Add or update many documents', {
    aliases: ['/onyx-api/ingestion/batch'],
    description:
      'One ingestion request per line. The response has one line per request, in the same order, and ' +
      'starts while the body is still being sent; an invalid line gets its own status and does not ' +
      'affect other lines.',
    input: { body: { kind: 'stream', mediaType: 'application/x-ndjson', schema: ingestionRequestSchema } },
    answer: { description: 'One line per document.', lines: batchLineSchema },
    handle(context): Reply {
      const body = presentBody(context.request)
      const left = new AbortController()
      const { settings, caller } = context
      const lines = readLines(body, {
        maxBytes: settings.limits.maxIngestionBytes,
        left: left.signal,
        openShare: () => createBodyShare(settings, caller.id),
      })
      const inOrder = createLimiter(1)
      const work = async (line: BodyLine): Promise<string> =>
        `${JSON.stringify(await answerTo(line, { ...context, inOrder }))}\n`
      const answers = orderedStream(lines, work, limits, () => left.abort())
      return reply(answers, {
        headers: {
          'content-type': 'application/x-ndjson',
          'cache-control': 'no-cache, no-transform',
          'x-accel-buffering': 'no',
        },
      })
    },
  }),
]

/** @throws VALIDATION_FAILED without a body: an empty response would hide the mistake */
function presentBody(request: Request): ReadableStream<Uint8Array> {
  if (request.body === null || declaredBytes(request) === 0)
    throw validationFailed([{ loc: ['body'], msg: 'is required', type: 'missing' }])
  return bodyStream(request)
}

interface LineContext extends RouteContext<unknown, unknown, unknown> {
  readonly caller: Principal
  /** Lines are accepted in order, so the last line with an id takes precedence. */
  readonly inOrder: Limiter
}

async function answerTo(line: BodyLine, context: LineContext): Promise<BatchLine> {
  const { caller, parts, settings, request, requestId, inOrder } = context
  try {
    if (line.fault === 'too_long') throw tooLarge(settings.limits.maxIngestionBytes)
    if (line.fault === 'unreadable') throw brokenCompression()
    if (line.refusal !== undefined) throw line.refusal
    const { text, pieces } = line
    if (text === undefined && !pieces)
      throw validationFailed([{ loc: ['body'], msg: 'is not valid UTF-8', type: 'json_invalid' }])
    const begun = await inOrder.run(async () => ({
      accepting: parts.knowledge.accept(
        pieces ? await readLargeRequest(pieces) : await parseJsonBody(text!, ingestionRequestSchema),
        { caller },
      ),
    }))
    const accepted = await begun.accepting
    return {
      line: line.number,
      status: 200,
      document_id: accepted.documentId,
      already_existed: accepted.alreadyExisted,
    }
  } catch (thrown) {
    const failure = toErrorReport(thrown)
    if (failure.unexpected) settings.onError(thrown, { requestId, method: request.method, route: 'a line of a batch' })
    return { line: line.number, status: failure.error.status, ...errorBody(failure.error, requestId) }
  } finally {
    line.release()
  }
}
