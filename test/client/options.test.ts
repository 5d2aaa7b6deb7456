import { createClient } from '@inlay/client'
import { expect, test } from 'vitest'

test.each([undefined, {}, 'https://app.example/api', { baseUrl: 5 }])(
  'a client without an address is refused: %j',
  (options) => {
    // Possible in JavaScript only.
    expect(() => createClient(options as never)).toThrow(
      'A client requires a baseUrl, such as https://app.example/api.',
    )
  },
)

test.each(['localhost:3000/api', 'app.example/api', 'ftp://app.example', 'https:/app.example', 'api'])(
  'an address without a scheme is refused with what is missing: %s',
  (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(
      `such as https://app.example/api. "${baseUrl}" lacks http://, https:// or /.`,
    )
  },
)

test.each(['https://app.example/api', 'HTTP://localhost:3000', '/api', ''])('%j is an address', (baseUrl) => {
  expect(() => createClient({ baseUrl })).not.toThrow()
})
