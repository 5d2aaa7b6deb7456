import { toUserId } from '@inlay/protocol'
import { expect, test } from 'vitest'
import { adminKey, newInstallation, type Installation } from '../administration/installation.ts'

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0, 1])
const agent = {
  name: 'Ornithologist',
  description: '',
  document_set_ids: [],
  tool_ids: [],
  system_prompt: '',
  task_prompt: '',
  datetime_aware: false,
}

function form(bytes: Uint8Array = png, name = 'heron.png'): FormData {
  const data = new FormData()
  data.append('file', new File([bytes.slice()], name, { type: 'image/png' }))
  return data
}

const upload = async ({ call }: Installation, key: string, path = '/persona/upload-image'): Promise<string> =>
  (await call<{ file_id: string }>('POST', path, form(), key)).body.file_id

async function fetched({ inlay }: Installation, path: string, key: string): Promise<[number, Uint8Array?]> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await inlay.fetch(new Request(`http://host.example/api${path}`, { headers }))
  return response.status === 200 ? [200, await response.bytes()] : [response.status]
}

async function people({ inlay }: Installation) {
  const keyOf = async (owner: string): Promise<string> => (await inlay.keys.create({ scopes: ['chat'], owner })).key
  return { alice: await keyOf('alice'), bob: await keyOf('bob'), carol: await keyOf('carol') }
}

test('the picture of an agent is shown to all who may use it, and goes with it', async () => {
  const installation = await newInstallation()
  const { call } = installation
  const { alice, bob, carol } = await people(installation)
  const picture = await upload(installation, alice)
  const persona = await call<{ id: number }>(
    'POST',
    '/persona',
    { ...agent, uploaded_image_id: picture, users: [toUserId('bob')] },
    alice,
  )
  expect(persona.body).toMatchObject({ uploaded_image_id: picture })
  const id = persona.body.id
  for (const key of [alice, bob]) {
    const listed = await call<{ id: number }[]>('GET', '/persona', undefined, key)
    expect(listed.body).toContainEqual(expect.objectContaining({ id, uploaded_image_id: picture }))
    expect(await fetched(installation, `/chat/file/${picture}`, key)).toEqual([200, png])
    expect(await fetched(installation, `/persona/${id}/avatar`, key)).toEqual([200, png])
  }
  expect(await fetched(installation, `/chat/file/${picture}`, carol)).toEqual([404])
  expect(await fetched(installation, `/persona/${id}/avatar`, carol)).toEqual([404])
  // It is not listed as her upload, and is kept while the agent shows it.
  expect((await call('GET', '/user/projects/file', undefined, alice)).body).toEqual([])
  expect((await call('DELETE', `/user/projects/file/${picture}`, undefined, alice)).body).toMatchObject({
    has_associations: true,
    assistant_names: ['Ornithologist'],
  })
  // Null changes nothing: clients send it with every change.
  const named = await call('PATCH', `/persona/${id}`, { name: 'Birder', uploaded_image_id: null }, alice)
  expect(named.body).toMatchObject({ name: 'Birder', uploaded_image_id: picture })
  expect((await call('DELETE', `/persona/${id}`, undefined, alice)).status).toBe(200)
  expect(await fetched(installation, `/chat/file/${picture}`, alice)).toEqual([404])
})

test('another picture takes the place of the first, which is removed, and a picture can be taken away', async () => {
  const installation = await newInstallation()
  const { call } = installation
  const [first, second] = [
    await upload(installation, adminKey, '/admin/persona/upload-image'),
    await upload(installation, adminKey),
  ]
  const { body } = await call<{ id: number }>('POST', '/persona', { ...agent, uploaded_image_id: first })
  await call('PATCH', `/persona/${body.id}`, { uploaded_image_id: second })
  expect(await fetched(installation, `/chat/file/${first}`, adminKey)).toEqual([404])
  expect(await fetched(installation, `/chat/file/${second}`, adminKey)).toEqual([200, png])
  expect((await call('PATCH', `/persona/${body.id}`, { remove_image: true })).body).toMatchObject({
    uploaded_image_id: null,
  })
  expect(await fetched(installation, `/chat/file/${second}`, adminKey)).toEqual([404])
  expect(await fetched(installation, `/persona/${body.id}/avatar`, adminKey)).toEqual([404])
})

test('only pictures of the caller become pictures of agents', async () => {
  const installation = await newInstallation()
  const { call } = installation
  const { alice, bob } = await people(installation)
  const text = form(new TextEncoder().encode('<script>alert(1)</script>'), 'heron.svg')
  expect((await call('POST', '/persona/upload-image', text, alice)).status).toBe(400)
  const fake = form(new TextEncoder().encode('no picture'), 'heron.png')
  expect((await call('POST', '/persona/upload-image', fake, alice)).status).toBe(400)
  expect((await call('POST', '/persona/upload-image', new FormData(), alice)).status).toBe(422)
  const large = form(new Uint8Array(10_000_001).fill(1))
  expect((await call('POST', '/persona/upload-image', large, alice)).status).toBe(413)
  const others = await upload(installation, bob)
  for (const id of [others, 'none', '%'])
    expect((await call('POST', '/persona', { ...agent, uploaded_image_id: id }, alice)).status).toBe(404)
  const document = new FormData()
  document.append('files', new File(['Herons.'], 'herons.txt'))
  const { body } = await call<{ user_files: { id: string }[] }>('POST', '/user/projects/file/upload', document, alice)
  const textFile = { ...agent, uploaded_image_id: body.user_files[0]?.id }
  expect((await call('POST', '/persona', textFile, alice)).status).toBe(404)
})

test('an agent is given to another person with its picture', async () => {
  const installation = await newInstallation()
  const { call, inlay } = installation
  const { alice, bob, carol } = await people(installation)
  const picture = await upload(installation, alice)
  const body = { ...agent, uploaded_image_id: picture, users: [toUserId('bob'), toUserId('carol')] }
  const { id } = (await call<{ id: number }>('POST', '/persona', body, alice)).body
  const path = `/persona/${id}/transfer-ownership`
  const toBob = { new_owner_user_id: toUserId('bob') }
  // A share is no right to give it away.
  expect((await call('POST', path, { new_owner_user_id: toUserId('carol') }, carol)).status).toBe(403)
  expect((await call('POST', path, { new_owner_user_id: toUserId('nobody') }, alice)).status).toBe(400)
  expect((await call('POST', path, { new_owner_group_id: 1 }, alice)).status).toBe(403)
  for (const wrong of [{}, { ...toBob, new_owner_group_id: 1 }, { new_owner_user_id: 'bob' }])
    expect((await call('POST', path, wrong, alice)).status).toBe(422)
  expect(await call('POST', path, toBob, alice)).toEqual({ status: 200, body: null })
  expect((await call('GET', `/persona/${id}`, undefined, bob)).body).toMatchObject({
    owner: { id: toUserId('bob') },
    user_permission: 'OWNER',
    users: [{ id: toUserId('carol') }],
  })
  expect((await call('GET', `/persona/${id}`, undefined, alice)).status).toBe(404)
  expect((await call('PATCH', `/persona/${id}`, { name: 'Mine' }, alice)).status).toBe(404)
  // Erasing the previous owner's files leaves the picture of somebody else's agent.
  await inlay.erase('alice')
  expect(await fetched(installation, `/persona/${id}/avatar`, carol)).toEqual([200, png])
})

test('a person leaves an agent that was shared with them by name', async () => {
  const installation = await newInstallation()
  const { call } = installation
  const { alice, bob } = await people(installation)
  const shared = { ...agent, users: [toUserId('bob')] }
  const { id } = (await call<{ id: number }>('POST', '/persona', shared, alice)).body
  const leave = async (key: string): Promise<number> =>
    (await call('DELETE', `/persona/${id}/share/me`, undefined, key)).status
  expect(await leave(alice)).toBe(400)
  expect(await leave(bob)).toBe(200)
  expect((await call('GET', `/persona/${id}`, undefined, bob)).status).toBe(404)
  expect(await leave(bob)).toBe(404)
  expect((await call('GET', `/persona/${id}`, undefined, alice)).body).toMatchObject({ users: [] })
})
