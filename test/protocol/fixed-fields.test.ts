import { boolean, complete, integer } from '@inlay/protocol'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { always, model } from '@inlay/protocol/internal/fields'

test('an answer is completed with its fixed fields, in the order of the schema, and other fields keep their schema', () => {
  const schema = model({ first: always(false, boolean), id: integer, last: always(null, v.null()), flag: boolean })
  const answer = complete(schema, { flag: true, id: 7 })
  expect(JSON.stringify(answer)).toBe('{"first":false,"id":7,"last":null,"flag":true}')
  expect(v.parse(schema, answer)).toEqual(answer)
})
