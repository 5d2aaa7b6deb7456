import { describe, expect, it } from 'vitest'
import { feedbackRequestSchema, parseWith, queryBoolean, searchRequestSchema } from '@inlay/protocol'

const refused = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return (error as { data: { issues: { loc: string[]; type: string }[] } }).data.issues.map(
      ({ loc, type }) => `${loc.join('.')}: ${type}`,
    )
  }
}

describe('a search', () => {
  const read = (body: object): unknown => refused(() => parseWith(searchRequestSchema, body, 'body'))

  it('needs words, at most 2048 characters of them', () => {
    expect(read({ query: 'a' })).toEqual({
      query: 'a',
      sources: null,
      document_sets: null,
      tags: null,
      time_cutoff: null,
      persona_id: null,
      provider: null,
      model: null,
      created_at_range: null,
      updated_at_range: null,
      message_history: null,
      skip_query_expansion: false,
      include_ranking: false,
    })
    expect(read({})).toEqual(['body.query: missing'])
    expect(read({ query: '' })).toEqual(['body.query: string_too_short'])
    expect(read({ query: 'a'.repeat(2049) })).toEqual(['body.query: string_too_long'])
  })
})

describe('feedback', () => {
  it('needs a verdict or a text', () => {
    const read = (body: object): unknown => refused(() => parseWith(feedbackRequestSchema, body, 'body'))
    expect(read({ chat_message_id: 1, is_positive: false })).toMatchObject({ is_positive: false, feedback_text: null })
    expect(read({ chat_message_id: 1, feedback_text: '' })).toMatchObject({ feedback_text: '' })
    expect(read({ chat_message_id: 1, predefined_feedback: 'x' })).toEqual(['body: value_error'])
  })
})

describe('a yes or no of a query', () => {
  it('is read in its common spellings only', () => {
    for (const yes of ['true', '1', 'Yes', 'ON']) expect(parseWith(queryBoolean, yes, 'query')).toBe(true)
    for (const no of ['false', '0', 'No', 'OFF']) expect(parseWith(queryBoolean, no, 'query')).toBe(false)
    for (const other of ['', '2', 'ja', ' true'])
      expect(refused(() => parseWith(queryBoolean, other, 'query'))).toEqual(['query: bool_parsing'])
  })
})
