import { inlayTransport, type InlayUIMessage } from '@inlay/client/ai-sdk'
import { isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { expect, test } from 'vitest'
import { apiKey, PlainChat, startService } from './service.ts'
import { scriptedAction } from '../../agent/scripted-action.ts'

/** A chat whose model wants to remove two pages in one step. */
async function removing() {
  const remove = scriptedAction({ id: 50, name: 'remove_page', result: { text: 'Removed.' } })
  const { baseUrl } = await startService(
    ({ prompt }) => {
      const said = JSON.stringify(prompt)
      if (said.includes('Removed.')) return ['Page 1 is removed.']
      if (said.includes('The user declined')) return ['Both stay.']
      return [1, 2].map((page) => ({ call: { name: 'remove_page', input: { page } } }))
    },
    { actions: [Object.assign(remove, { needsApproval: true })] },
  )
  const transport = inlayTransport({ baseUrl, apiKey })
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses
  const chat = new PlainChat({ transport, sendAutomaticallyWhen })
  await chat.sendMessage({ text: 'Remove pages 1 and 2' })
  return { chat, transport, remove }
}

const callsOf = (message: InlayUIMessage | undefined) => (message?.parts ?? []).filter(isToolUIPart)
const requestsOf = (chat: PlainChat) =>
  callsOf(chat.lastMessage).flatMap((part) => (part.state === 'approval-requested' ? [part.approval.id] : []))
const textOf = (message: InlayUIMessage | undefined): string =>
  (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')

test('calls that need approval are parts to respond to, and the same message goes on with the answer', async () => {
  const { chat, transport, remove } = await removing()
  expect(callsOf(chat.lastMessage)).toMatchObject([
    { type: 'dynamic-tool', toolName: 'remove_page', state: 'approval-requested', input: { page: 1 } },
    { type: 'dynamic-tool', toolName: 'remove_page', state: 'approval-requested', input: { page: 2 } },
  ])
  const [first, second] = requestsOf(chat)
  await chat.addToolApprovalResponse({ id: first!, approved: true })
  expect(remove.calls).toEqual([])
  await chat.addToolApprovalResponse({ id: second!, approved: false, reason: 'still read' })
  await expect.poll(() => [chat.status, textOf(chat.lastMessage)]).toEqual(['ready', 'Page 1 is removed.'])
  expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  expect(callsOf(chat.lastMessage)).toMatchObject([
    { state: 'output-available', input: { page: 1 }, output: 'Removed.' },
    { state: 'output-denied', input: { page: 2 } },
  ])
  expect(remove.calls.map(({ input }) => input)).toEqual([{ page: 1 }])
  // A reload shows the same message.
  const stored = await transport.messages(chat.lastMessage?.metadata?.sessionId ?? '')
  expect(stored.map(({ role }) => role)).toEqual(['user', 'assistant'])
  expect(callsOf(stored[1]).map(({ state }) => state)).toEqual(['output-available', 'output-denied'])
  expect([stored[1]?.metadata?.messageId, textOf(stored[1])]).toEqual([
    chat.lastMessage?.metadata?.messageId,
    'Page 1 is removed.',
  ])
})

test('what waits can be responded to after a reload', async () => {
  const { chat, transport, remove } = await removing()
  const id = chat.lastMessage?.metadata?.sessionId ?? ''
  const messages = await transport.messages(id)
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses
  const reloaded = new PlainChat({ id, messages, transport, sendAutomaticallyWhen })
  for (const request of requestsOf(reloaded)) await reloaded.addToolApprovalResponse({ id: request, approved: false })
  await expect.poll(() => [reloaded.status, textOf(reloaded.lastMessage)]).toEqual(['ready', 'Both stay.'])
  await reloaded.sendMessage({ text: 'Thanks' })
  expect(reloaded.error).toBeUndefined()
  expect(remove.calls).toEqual([])
})

test('the result of a call is shown with that call although the tool of another one is gone', async () => {
  const actions = ['archive_page', 'remove_page'].map((name, id) =>
    Object.assign(scriptedAction({ id: 50 + id, name, result: { text: 'Removed.' } }), { needsApproval: true }),
  )
  const { baseUrl } = await startService(
    ({ prompt }) =>
      JSON.stringify(prompt).includes('Removed.')
        ? ['One is removed.']
        : actions.map(({ name }) => ({ call: { name, input: { page: 1 } } })),
    { actions },
  )
  const message = {}
  const transport = inlayTransport({ baseUrl, apiKey, message })
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses
  const chat = new PlainChat({ transport, sendAutomaticallyWhen })
  await chat.sendMessage({ text: 'Remove the page' })
  Object.assign(message, { allowed_tool_ids: [51] })
  for (const id of requestsOf(chat)) await chat.addToolApprovalResponse({ id, approved: true })
  await expect.poll(() => [chat.status, textOf(chat.lastMessage)]).toEqual(['ready', 'One is removed.'])
  const shown = [
    { toolName: 'archive_page', state: 'output-error' },
    { toolName: 'remove_page', state: 'output-available', output: 'Removed.' },
  ]
  expect(callsOf(chat.lastMessage)).toMatchObject(shown)
  const stored = await transport.messages(chat.lastMessage?.metadata?.sessionId ?? '')
  expect(callsOf(stored[1])).toMatchObject(shown)
})
