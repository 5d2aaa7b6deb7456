import { isRedirect, isSameHost, redirectedRequest } from '../../http/redirects.ts'
import type { Transport, TransportAnswer } from './transport.ts'

const maxRedirects = 5

/**
 * A prompt contains documents of users, which a provider must not pass on, with or without the key. A change to https
 * on the same host is allowed; any other redirect becomes an error that names the host.
 */
export function followSameHost(transport: Transport): Transport {
  return async (first) => {
    let request = first
    for (let count = 0; ; count++) {
      const answer = await transport(request)
      const { status, headers } = answer
      const location = headers.get('location')
      if (!isRedirect(status) || location === null) return answer
      answer.read(unread).cancel()
      const to = URL.parse(location, request.url)
      if (to === null || !isSameHost(new URL(request.url), to)) return refused(answer, to)
      if (count === maxRedirects)
        throw new TypeError('fetch failed', { cause: new Error('The address redirects too often.') })
      // The key goes along also where http becomes https.
      request = { ...redirectedRequest(request, status, to, to), url: to.href }
    }
  }
}

function refused(answer: TransportAnswer, to: URL | null): TransportAnswer {
  const message = `The address redirects to ${to?.origin ?? 'another one'}, which is not followed: set the base URL to that.`
  const body = new TextEncoder().encode(JSON.stringify({ error: { message } }))
  const headers = new Headers({ 'content-type': 'application/json' })
  return {
    ...answer,
    headers,
    read: (sink) => {
      sink.push(body)
      sink.end()
      return { pause: () => {}, resume: () => {}, cancel: () => {} }
    },
  }
}

const unread = { push: () => {}, end: () => {}, fail: () => {} }
