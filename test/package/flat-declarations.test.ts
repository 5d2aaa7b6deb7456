import { expect, test } from 'vitest'
import { writeOut } from '../../packages/protocol/scripts/flat-declarations.ts'

test('declarations show wire types by their members, with comments, and name other wire types', () => {
  const written = [...writeOut()].map(([file, text]) => [file.replace(/.*\/src\//, ''), text.toString()] as const)
  expect(
    written.filter(([, text]) => /= (?:Wire|PacketFieldsOf)<typeof|(?:WireSchema|PacketFamily)<unknown>/.test(text)),
  ).toEqual([])
  const sessions = written.find(([file]) => file === 'resources/sessions.ts')?.[1] ?? ''
  expect(sessions).toContain('export const chatSessionDetailSchema: WireSchema<ChatSessionDetail> = ')
  const detail = /^export interface ChatSessionDetail .*$/m.exec(sessions)?.[0]
  expect(detail).toContain('/** Id of the session. */ readonly chat_session_id: string;')
  expect(detail).toContain('readonly persona_id: number | null;')
  expect(detail).toContain('readonly messages: readonly ChatMessageDetail[];')
})
