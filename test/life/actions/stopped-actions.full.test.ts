import { describe, test } from 'vitest'
import { stopWhileCalling } from './endless-actions.ts'

describe('a stop ends a call that would never end:', () => {
  test.each(['open_url', 'generate_image', 'run_python', 'a tool of an MCP server'])('%s', stopWhileCalling)
})
