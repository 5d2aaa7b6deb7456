/** Longest time a question is held; milliseconds. */
const longestMs = 10_000

/**
 * Holds questions back until the first documents are searchable: an answer from nothing would be a bad first
 * impression. Everything else goes through at once.
 * @param ready settles once questions may pass
 */
export function holdQuestions(
  api: (request: Request) => Promise<Response>,
  ready: Promise<void>,
  limitMs: number = longestMs,
): (request: Request) => Promise<Response> {
  const limit = new Promise<void>((resolve) => setTimeout(resolve, limitMs).unref())
  const open = Promise.race([ready, limit])
  return async (request) => {
    if (request.method === 'POST' && new URL(request.url).pathname.endsWith('/chat/send-chat-message')) await open
    return api(request)
  }
}
