/** Maximum time a question is held, in milliseconds. */
const longestMs = 10_000

/**
 * Holds questions until the first documents are searchable, since an answer without documents would make a bad first
 * impression. All other requests pass at once.
 * @param ready settles when questions may pass
 */
export function holdQuestions(
  api: (request: Request) => Promise<Response>,
  ready: Promise<void>,
  timeoutMs: number = longestMs,
): (request: Request) => Promise<Response> {
  const limit = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref())
  const open = Promise.race([ready, limit])
  return async (request) => {
    if (request.method === 'POST' && new URL(request.url).pathname.endsWith('/chat/send-chat-message')) await open
    return api(request)
  }
}
