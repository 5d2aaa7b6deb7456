import type { ChatSessionDetail } from '@inlay/protocol'
import { expect, test } from 'vitest'
import { asMarkdown, exported } from '../../../packages/page/src/chat/export.ts'
import { newTurn, withLines } from '@inlay/client/conversation'
import { searchDoc } from '../sources/search-doc.ts'

const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null }
const documents = [
  searchDoc({ document_id: 'a', semantic_identifier: 'Leave [new]', link: 'https://a.example/leave (1)' }),
  searchDoc({ document_id: 'b', semantic_identifier: 'Without a link', link: null }),
]
const turn = withLines(newTurn(1, { question: 'How many days?', files: [] }, 's'), [
  { user_message_id: 2, reserved_assistant_message_id: 3 },
  { placement, obj: { type: 'message_start', final_documents: documents, pre_answer_processing_seconds: null } },
  { placement, obj: { type: 'message_delta', content: '**25** [[1]](https://a.example/leave), [[2]]().' } },
  { placement, obj: { type: 'citation_info', citation_number: 1, document_id: 'a' } },
  { placement, obj: { type: 'citation_info', citation_number: 2, document_id: 'b' } },
  { placement, obj: { type: 'stop', stop_reason: null } },
])

test('a conversation becomes Markdown with its questions as headings and its sources below each answer', () => {
  const second = newTurn(2, { question: '> quoted\n\nAnd this?', files: [] }, 's')
  expect(asMarkdown('Holidays', [turn, second])).toBe(
    [
      '# Holidays',
      '## How many days?',
      '**25** [1](https://a.example/leave), [2].',
      '**Sources**',
      '1. [Leave \\[new\\]](<https://a.example/leave (1)>)\n2. Without a link',
      '## Question\n\n> quoted\n\nAnd this?',
    ].join('\n\n') + '\n',
  )
})

test('the file is named after the conversation, without what file systems refuse', async () => {
  const session = { description: 'A/B: "what?"\n', messages: [], packets: [] } as unknown as ChatSessionDetail
  expect(exported(session, 'markdown').name).toBe('A B what.md')
  const json = exported({ ...session, description: '' }, 'json')
  expect(json.name).toBe('Chat.json')
  expect(JSON.parse(await json.text())).toEqual({ description: '', messages: [], packets: [] })
})
