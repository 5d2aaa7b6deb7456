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
