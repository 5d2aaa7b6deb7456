import { isSameHost, redirectedRequest } from '@inlay/drivers/internal/http/redirects'
import { expect, test } from 'vitest'

test.each([
  ['http://a.example/', 'http://a.example/other', true],
  ['http://a.example/', 'https://a.example/', true],
  ['http://a.example:80/', 'https://a.example:443/', true],
  ['http://a.example/', 'https://a.example:8443/', false],
  ['http://a.example:8080/', 'https://a.example/', false],
  ['http://a.example:8080/', 'https://a.example:8080/', false],
  ['https://a.example/', 'http://a.example/', false],
  ['http://a.example/', 'https://b.example/', false],
  ['http://a.example/', 'https://sub.a.example/', false],
  ['http://a.example/', 'http://user@a.example/', false],
  ['http://a.example/', 'http://:secret@a.example/', false],
])('whether what is sent to %s may follow a redirect to %s: %s', (from, to, isSame) => {
  expect(isSameHost(new URL(from), new URL(to))).toBe(isSame)
})

test.each([
  ['GET', 301, 'GET'],
  ['POST', 301, 'GET'],
  ['POST', 302, 'GET'],
  ['PUT', 302, 'PUT'],
  ['PUT', 303, 'GET'],
  ['HEAD', 303, 'HEAD'],
  ['POST', 307, 'POST'],
  ['POST', 308, 'POST'],
])('a %s is after %i a %s, with its body and type if it stays what it is', (method, status, after) => {
  const headers = { 'Content-Type': 'text/plain', Range: 'bytes=0-9' }
  const [from, to] = [new URL('http://a.example/'), new URL('http://a.example/other')]
  const sent = redirectedRequest({ method, headers, body: 'x' }, status, from, to)
  const isKept = method === after && !(method === 'GET' && status === 303)
  expect(sent).toEqual({
    method: after,
    headers: isKept ? { 'content-type': 'text/plain', range: 'bytes=0-9' } : { range: 'bytes=0-9' },
    body: isKept ? 'x' : undefined,
  })
})
