import { InlayError } from '@inlay/protocol'
import { afterEach, expect, test, vi } from 'vitest'
import { disconnectedNote } from '../../../packages/page/src/chat/answer-view.tsx'
import { toFailure } from '../../../packages/page/src/service/failure.ts'

afterEach(() => vi.unstubAllGlobals())

test.each([
  [false, 'docs.example', /^You are offline/, /^You are offline/],
  [true, 'docs.example', /Check that it is still running/, /connection to the server is lost/],
  [false, 'localhost', /Check that it is still running/, /connection to the server is lost/],
  [false, '127.0.0.1', /Check that it is still running/, /connection to the server is lost/],
  [false, '[::1]', /Check that it is still running/, /connection to the server is lost/],
])(
  'with a network: %s, a server at %s that cannot be reached is told with what helps',
  (onLine, hostname, failed, disconnected) => {
    vi.stubGlobal('navigator', { onLine })
    vi.stubGlobal('location', { hostname })
    expect(toFailure(new InlayError('CONNECTION_ERROR')).message).toMatch(failed)
    expect(toFailure(new TypeError('Failed to fetch')).message).toMatch(failed)
    expect(disconnectedNote()).toMatch(disconnected)
  },
)
