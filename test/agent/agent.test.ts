import { expect, test } from 'vitest'
import { inShort, newSetting } from './setting.ts'

test('a plain answer in a new session', async () => {
  const { lines } = await newSetting([['Hello', '! How can', ' I help?']])
  expect((await lines()).map(inShort)).toEqual([
    'line chat_session_id incognito',
    'line user_message_id reserved_assistant_message_id',
    '0.0 message_start null',
    '0.0 message_delta "Hello"',
    '0.0 message_delta "! How can"',
    '0.0 message_delta " I help?"',
    '0.0 stop null',
  ])
})
