import { expect, test } from 'vitest'
import { toUserId } from '@inlay/protocol'
import { newInstallation, type Installation } from './installation.ts'
import { personaBody } from '../../persona-body.ts'

const body = { ...personaBody, name: 'Ada' }

async function makeKey({ inlay }: Installation, owner: string): Promise<string> {
  return (await inlay.keys.create({ scopes: ['chat'], owner })).key
}

test('labels are made, given to agents, renamed and deleted', async () => {
  const { call } = await newInstallation()
  const label = await call<{ id: number }>('POST', '/persona/labels', { name: 'Sales' })
  expect(label).toMatchObject({ status: 200, body: { name: 'Sales' } })
  expect(await call('POST', '/persona/labels', { name: 'Sales' })).toMatchObject({ status: 400 })
  const { id } = label.body
  const agent = await call<{ id: number }>('POST', '/persona', { ...body, label_ids: [id] })
  expect(agent.body).toMatchObject({ labels: [{ id, name: 'Sales' }] })
  expect(await call('POST', '/persona', { ...body, label_ids: [7] })).toMatchObject({ status: 400 })
  expect(await call('PATCH', `/admin/persona/label/${id}`, { label_name: 'Retail' })).toEqual({
    status: 200,
    body: null,
  })
  expect((await call('GET', '/persona/labels')).body).toEqual([{ id, name: 'Retail' }])
  expect((await call('GET', `/persona/${agent.body.id}`)).body).toMatchObject({ labels: [{ name: 'Retail' }] })
  await call('DELETE', `/admin/persona/label/${id}`)
  expect((await call('GET', `/persona/${agent.body.id}`)).body).toMatchObject({ labels: [] })
  expect(await call('DELETE', `/admin/persona/label/${id}`)).toMatchObject({ status: 400 })
})

test('administrators list agents whole, order, list and feature them', async () => {
  const installation = await newInstallation()
  const { call } = installation
  const alice = await makeKey(installation, 'alice')
  const first = await call<{ id: number }>('POST', '/persona', body, alice)
  const second = await call<{ id: number }>('POST', '/admin/persona', { ...body, name: 'Bea' })
  const all = await call<Record<string, unknown>[]>('GET', '/admin/persona')
  expect(all.body.map(({ name }) => name)).toEqual(['Assistant', 'Ada', 'Bea'])
  for (const persona of all.body) {
    const nullable =
      /^(uploaded_image_id|icon_name|display_priority|starter_messages|owner|owner_group|default_model_configuration_id|system_prompt|task_prompt|search_start_date|user_permission|grounding|compared_citations|tool_approval)$/
    for (const [name, value] of Object.entries(persona))
      if (!nullable.test(name)) expect([name, value]).not.toEqual([name, null])
  }
  const editable = await call<object[]>('GET', '/admin/persona?get_editable=true')
  expect(editable.body).toHaveLength(2)
  const order = { display_priority_map: { [second.body.id]: 0, [first.body.id]: 1 } }
  expect(await call('PATCH', '/admin/agents/display-priorities', order)).toEqual({ status: 200, body: null })
  expect((await call('GET', '/admin/agents?include_default=false&page_size=1')).body).toMatchObject({
    items: [{ name: 'Bea' }],
    total_items: 2,
  })
  await call('PATCH', `/admin/persona/${first.body.id}/listed`, { is_listed: false })
  await call('PATCH', `/admin/persona/${first.body.id}/featured`, { is_featured: true })
  expect((await call('GET', `/persona/${first.body.id}`)).body).toMatchObject({ is_listed: false, is_featured: true })
  expect(await call('PATCH', `/admin/persona/${first.body.id}/featured`, { is_featured: true }, alice)).toMatchObject({
    status: 403,
  })
})

test('an agent is shared by ids and made public by administrators alone', async () => {
  const installation = await newInstallation()
  const { call } = installation
  const [alice, bob] = [await makeKey(installation, 'alice'), await makeKey(installation, 'bob')]
  const agent = await call<{ id: number }>('POST', '/persona', body, alice)
  const path = `/persona/${agent.body.id}`
  expect(await call('GET', path, undefined, bob)).toMatchObject({ status: 404 })
  expect(await call('PATCH', `${path}/share`, { user_ids: [toUserId('bob')] }, alice)).toEqual({
    status: 200,
    body: null,
  })
  expect(await call('GET', path, undefined, bob)).toMatchObject({ status: 200, body: { user_permission: 'VIEWER' } })
  const both = { user_ids: [], user_shares: [] }
  expect(await call('PATCH', `${path}/share`, both, alice)).toMatchObject({ status: 422 })
  expect(await call('PATCH', `${path}/share`, { group_ids: [3] }, alice)).toMatchObject({ status: 422 })
  expect(await call('PATCH', `${path}/share`, { public_permission: 'EDITOR' }, alice)).toMatchObject({ status: 403 })
  for (const [way, change] of [
    ['/public', { is_public: true }],
    ['/share', { is_public: true }],
    ['', { is_public: true }],
  ] as const)
    expect(await call('PATCH', `${path}${way}`, change, alice)).toMatchObject({
      status: 403,
      body: { error_code: 'INSUFFICIENT_PERMISSIONS' },
    })
  expect(await call('POST', '/persona', { ...body, is_public: true }, alice)).toMatchObject({ status: 403 })
  expect(await call('PATCH', `${path}/public`, { is_public: true })).toEqual({ status: 200, body: null })
  expect(await call('PATCH', path, { name: 'Still public', is_public: true }, alice)).toMatchObject({ status: 200 })
})

test('an administrator attaches a file of somebody else to an agent; others cannot', async () => {
  const installation = await newInstallation()
  const { call } = installation
  const [alice, bob] = [await makeKey(installation, 'alice'), await makeKey(installation, 'bob')]
  const form = new FormData()
  form.append('files', new File(['words'], 'a.txt', { type: 'text/plain' }))
  const upload = await call<{ user_files: { id: string }[] }>('POST', '/user/projects/file/upload', form, alice)
  const user_file_ids = [upload.body.user_files[0]!.id]
  expect(await call('POST', '/persona', { ...body, user_file_ids }, bob)).toMatchObject({ status: 404 })
  expect(await call('POST', '/persona', { ...body, user_file_ids })).toMatchObject({
    status: 200,
    body: { user_file_ids },
  })
})
