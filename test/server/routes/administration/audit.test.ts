import type { AuditEvent } from '@inlay/protocol/administration'
import { expect, test } from 'vitest'
import { newInstallation } from './installation.ts'

const document = { id: 'plan', semantic_identifier: 'Plan', metadata: {}, sections: [{ text: 'Secret merger.' }] }

test('the audit keeps administration, deletions, changes of access and uses of keys, and no content', async () => {
  const { call } = await newInstallation()
  const creation = await call<{ api_key: string; api_key_id: number }>('POST', '/admin/api-key', {
    name: 'Importer',
    scopes: ['ingest', 'chat'],
  })
  const { api_key: key, api_key_id: keyId } = creation.body
  await call('POST', '/service-api/ingestion', { document }, key)
  await call('DELETE', '/service-api/ingestion/plan', undefined, key)
  await call('DELETE', '/service-api/ingestion/plan', undefined, key)
  const session = await call<{ chat_session_id: string }>('POST', '/chat/create-chat-session', {}, key)
  const { chat_session_id: sessionId } = session.body
  await call('PATCH', `/chat/chat-session/${sessionId}`, { sharing_status: 'public' }, key)
  await call('PATCH', '/admin/settings', { company_name: 'Zebulon' }, key)
  await call('DELETE', `/admin/api-key/${keyId}`)

  const { body: events } = await call<AuditEvent[]>('GET', '/admin/audit')
  const seen = events.map(({ operation, target, status }) => [operation, target, status])
  expect(seen.toReversed()).toEqual([
    ['createKey', { id: String(keyId) }, 200],
    ['useKey', { api_key_id: String(keyId) }, 200],
    ['deleteDocument', { document_id: 'plan' }, 200],
    ['deleteDocument', { document_id: 'plan' }, 404],
    ['updateChatSession', { session_id: sessionId }, 200],
    ['updateSettings', {}, 403],
    ['revokeKey', { api_key_id: String(keyId) }, 200],
  ])
  expect(new Set(events.map(({ caller_id: caller }) => caller)).size).toBe(2)
  for (const { time, request_id: requestId, operation } of events) {
    expect(Math.abs(Date.now() - Date.parse(time))).toBeLessThan(3_600_000)
    expect(requestId).toMatch(operation === 'useKey' ? /^$/ : /./)
  }
  expect(JSON.stringify(events)).not.toMatch(/merger|Zebulon|Importer/)
  expect(JSON.stringify(events)).not.toContain(key)
})

test('the audit is read by the page, by caller and by operation, by administrators alone', async () => {
  const { call, inlay } = await newInstallation()
  for (let count = 0; count < 5; count++) await call('POST', '/persona/labels', { name: `label ${count}` })
  for (let count = 0; count < 5; count++)
    await call('PATCH', `/admin/persona/label/${1_000_001 + count}`, { label_name: `new ${count}` })
  const { body: first } = await call<AuditEvent[]>('GET', '/admin/audit?limit=2')
  const { body: rest } = await call<AuditEvent[]>('GET', `/admin/audit?limit=10&before=${first[1]?.id}`)
  const ids = [...first, ...rest].map(({ target }) => target['label_id'])
  expect(ids).toEqual(['1000005', '1000004', '1000003', '1000002', '1000001'])
  expect((await call('GET', '/admin/audit?operation=deleteKey')).body).toEqual([])
  expect((await call('GET', '/admin/audit?caller_id=operator&operation=renamePersonaLabel')).body).toHaveLength(5)
  const { key } = await inlay.keys.create({ scopes: ['chat'], owner: 'ada' })
  expect(await call('GET', '/admin/audit', undefined, key)).toMatchObject({ status: 403 })
  expect(await call('PATCH', '/admin/audit')).toMatchObject({ status: 405 })
})

test('callers who are not known leave nothing in the audit', async () => {
  const { call } = await newInstallation()
  expect(await call('DELETE', '/service-api/ingestion/plan', undefined, 'no-such-key-at-all')).toMatchObject({
    status: 401,
  })
  expect((await call('GET', '/admin/audit')).body).toEqual([])
})
