import { describe, expect, it } from 'vitest'
import {
  ingestionRequestSchema,
  isInlayError,
  parseJsonBody,
  searchRequestSchema,
  sendMessageRequestSchema,
  type ValidationIssue,
} from '@inlay/protocol'

describe('a JSON text', () => {
  const read = (text: string): Promise<unknown> => parseJsonBody(text, searchRequestSchema)
  const refusalOf = async (reading: Promise<unknown>): Promise<readonly ValidationIssue[]> => {
    const failed = await reading.then(
      () => expect.fail('nothing was refused'),
      (error: unknown) => error,
    )
    if (!isInlayError(failed)) throw failed
    expect(failed).toMatchObject({ code: 'VALIDATION_FAILED', status: 422 })
    return failed.data.issues as ValidationIssue[]
  }

  it.each(['{', '{"query": }', 'query', '{"query": "a"} x', '[', 'NaN', "{'query': 'a'}", '\0'])(
    '%j is refused as malformed',
    async (text) => {
      expect(await refusalOf(read(text))).toEqual([{ loc: ['body'], msg: expect.any(String), type: 'json_invalid' }])
    },
  )

  it.each(['', ' \n'])('that is blank (%j) is a missing body', async (text) => {
    expect(await refusalOf(read(text))).toMatchObject([{ loc: ['body'], type: 'missing' }])
  })

  it('may begin with a byte order mark', async () => {
    expect(await read('\uFEFF{"query": "a"}')).toMatchObject({ query: 'a' })
  })

  it('cannot reach a prototype', async () => {
    const message = await parseJsonBody(
      '{"message": "a", "__proto__": {"stream": false}, "constructor": 1, "mcp_headers": {"__proto__": "x"}}',
      sendMessageRequestSchema,
    )
    expect(message.stream).toBe(true)
    expect(Object.getPrototypeOf(message)).toBe(Object.prototype)
    expect(Object.keys(message.mcp_headers ?? {})).toEqual([])
    expect(({} as Record<string, unknown>).stream).toBeUndefined()
  })

  it('with more values than a process should hold is refused before it is read', async () => {
    for (const flood of ['['.repeat(300_000), `[${'{},'.repeat(100_000)}{}]`])
      await expect(read(flood)).rejects.toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }))
  })

  it('of one long text is no flood, whatever stands in it', async () => {
    const text = '{,[\\"'.repeat(500_000)
    const { document } = await parseJsonBody(
      JSON.stringify({ document: { semantic_identifier: 't', sections: [{ text }], metadata: {} } }),
      ingestionRequestSchema,
    )
    expect(document.sections[0]).toMatchObject({ text })
  })

  it('that is nested deeply does no harm where it is ignored, and is refused where it counts', async () => {
    const deep = '['.repeat(90_000) + ']'.repeat(90_000)
    expect(await parseJsonBody(`{"query": "a", "other": ${deep}}`, searchRequestSchema)).toMatchObject({ query: 'a' })
    expect(await refusalOf(read(deep))).toMatchObject([{ type: 'model_attributes_type' }])
    const body = `{"document": {"semantic_identifier": "t", "sections": [], "metadata": {"a": {"b": ${deep}}}}}`
    expect(await refusalOf(parseJsonBody(body, ingestionRequestSchema))).toMatchObject([
      { loc: ['body', 'document', 'metadata'], type: 'recursion_loop' },
    ])
  })
})
