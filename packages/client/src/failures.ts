import { type ErrorCode, errorTable, InlayError } from '@inlay/protocol'

/** The code for a status, of responses without a known code: the first one of a status is the general one. */
const codeOf = (status: number): ErrorCode | undefined =>
  (Object.keys(errorTable) as ErrorCode[]).find((code) => errorTable[code].status === status)

const isKnown = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(errorTable, code)

interface FailureBody {
  readonly error_code?: unknown
  readonly detail?: unknown
  readonly message?: unknown
  readonly request_id?: unknown
}

/** The body as an object; {} for anything else, such as the page of a proxy. */
async function bodyOf(response: Response): Promise<FailureBody> {
  try {
    const body: unknown = await response.json()
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}

const orUndefined = (value: unknown): string | undefined => (typeof value === 'string' && value ? value : undefined)

/**
 * Converts an error response to an error. `data` has `status` and, if the response contains them, `issues` (for a 422),
 * `requestId`, `retryAfterSeconds` and `errorCode` (a code that this version does not know).
 */
export async function toError(response: Response): Promise<InlayError> {
  const body = await bodyOf(response)
  const fallback = codeOf(response.status) ?? (response.status >= 500 ? 'INTERNAL_ERROR' : 'BAD_REQUEST')
  const requestId = response.headers.get('x-request-id') ?? orUndefined(body.request_id)
  const retryAfter = response.headers.get('retry-after')
  return new InlayError(isKnown(body.error_code) ? body.error_code : fallback, {
    message: orUndefined(body.detail) ?? orUndefined(body.message),
    data: {
      status: response.status,
      ...(Array.isArray(body.detail) && { issues: body.detail }),
      ...(requestId !== undefined && { requestId }),
      ...(retryAfter !== null && /^\d+$/.test(retryAfter) && { retryAfterSeconds: Number(retryAfter) }),
      ...(orUndefined(body.error_code) && !isKnown(body.error_code) && { errorCode: body.error_code }),
    },
  })
}
