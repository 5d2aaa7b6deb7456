import type { ModelProvider } from '@inlay/agent'
import { createWorkspaceRecords, migrateServer, type WorkspaceRecords } from '@inlay/server'
import { addedModelParts } from 'inlay/internal/parts/added-models'
import { configuredModels } from 'inlay/internal/parts/model-parts'
import { createSecrets } from 'inlay/internal/parts/secrets'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../agent/setting.ts'

const change = {
  id: null,
  name: 'Ours',
  provider: 'deepseek',
  api_key: 'sk-unguessable',
  api_key_changed: true,
  api_base: null,
  api_version: null,
  custom_config: null,
  model_configurations: [
    { name: 'deepseek-chat', is_visible: true, max_input_tokens: 64_000, supports_image_input: null },
  ],
}
const override = { model_provider: 'Ours', model_version: 'deepseek-chat' }

async function records(): Promise<WorkspaceRecords> {
  const db = await newDatabase()
  onTestFinished(() => db.destroy())
  await migrateServer(db)
  return createWorkspaceRecords({ db })
}

const open = async (workspace: WorkspaceRecords, secretKey: string) => {
  const errors: unknown[] = []
  const parts = addedModelParts({
    configured: await configuredModels('extractive', () => {}),
    workspace,
    secrets: createSecrets(secretKey),
    make: (choices): Promise<ModelProvider> => configuredModels(choices, () => {}),
    onError: (error) => void errors.push(error),
  })
  return { ...parts, errors }
}

test('what one process adds, changes and removes is so in the others with the next message', async () => {
  const workspace = await records()
  const [here, there] = [await open(workspace, 'one-key-of-the-host'), await open(workspace, 'one-key-of-the-host')]
  await there.models.resolve()
  const id = await here.addedModels.save(change, true)
  expect(await there.models.resolve(override)).toMatchObject({ name: 'deepseek-chat', contextTokens: 64_000 })
  const [changed] = change.model_configurations.map((model) => ({ ...model, max_input_tokens: 128_000 }))
  await there.addedModels.save({ ...change, id, api_key_changed: false, model_configurations: [changed!] }, false)
  expect(await here.models.resolve(override)).toMatchObject({ contextTokens: 128_000 })
  await there.addedModels.chooseDefault({ provider_id: id, model_name: 'deepseek-chat' })
  expect(await here.models.resolve()).toMatchObject({ provider: 'Ours' })
  expect((await here.models.list()).filter(({ isDefault }) => isDefault)).toMatchObject([{ providerId: id }])
  await here.addedModels.remove(id, true)
  expect(await there.models.resolve()).toMatchObject({ provider: 'inlay' })
  await expect(there.models.resolve(override)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
})

test('the stored key opens with the key of the host alone, and another one says to enter it again', async () => {
  const workspace = await records()
  await (await open(workspace, 'one-key-of-the-host')).addedModels.save(change, true)
  const [stored] = await workspace.list('model_provider')
  expect(JSON.stringify(stored)).not.toContain('unguessable')
  const other = await open(workspace, 'another-key-of-the-host')
  expect((await other.models.list()).map(({ name }) => name)).toContain('deepseek-chat')
  await expect(other.models.resolve(override)).rejects.toThrow('an administrator has to enter it again')
  expect(await other.models.resolve()).toMatchObject({ provider: 'inlay' })
})

test('no change of an added provider lets it use the credentials of the host', async () => {
  const { models, addedModels } = await open(await records(), 'one-key-of-the-host')
  const gateway = { ...change, provider: 'foo', api_key: null, api_base: 'https://gateway.example' }
  const id = await addedModels.save(gateway, true)
  const kept = { ...gateway, id, api_key_changed: false }
  for (const other of [
    { ...kept, provider: 'amazon-bedrock' },
    { ...kept, provider: 'bedrock', api_base: null },
    { ...kept, provider: 'openai', api_base: null },
  ])
    await expect(addedModels.save(other, false)).rejects.toThrow('needs an "api_key"')
  expect((await models.list()).map(({ provider }) => provider)).toContain('Ours')
})

test('a stored provider that cannot be made is left out and reported, and can be removed', async () => {
  const workspace = await records()
  const { models, addedModels, errors } = await open(workspace, 'one-key-of-the-host')
  const good = await addedModels.save({ ...change, name: 'Good' }, true)
  const { value } = (await workspace.get('model_provider', good))!
  const { id } = await workspace.add('model_provider', { ...value, name: 'Bad', type: 'openai', apiKey: null })
  expect((await models.list()).map(({ provider }) => provider)).toEqual(['inlay', 'Good'])
  expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('"Bad" needs an "api_key"') })])
  await addedModels.remove(id, false)
  expect((await addedModels.list()).map(({ name }) => name)).toEqual(['Good'])
})

test('a provider that is configured later under the name of an added one takes its place', async () => {
  const workspace = await records()
  const { models, addedModels } = await open(workspace, 'one-key-of-the-host')
  const added = await addedModels.save(change, true)
  const { value } = (await workspace.get('model_provider', added))!
  await workspace.put('model_provider', added, { ...value, name: 'inlay', defaultModel: 'deepseek-chat' })
  expect(await models.resolve({ model_provider: 'inlay', model_version: 'extractive' })).toMatchObject({
    name: 'extractive',
  })
  expect(await models.resolve()).toMatchObject({ name: 'extractive' })
  expect((await models.list()).map(({ name, isDefault }) => [name, isDefault])).toEqual([['extractive', true]])
  expect((await addedModels.list()).map(({ id: each }) => each)).toEqual([added])
})

test.each([
  'https://:hunter2@gateway.example/v1',
  'https://ana:hunter2@gateway.example/v1',
  'https://ana@gateway.example',
])('an address with a user name or password is refused: %s', async (address) => {
  const { addedModels } = await open(await records(), 'one-key-of-the-host')
  await expect(addedModels.save({ ...change, api_base: address }, true)).rejects.toThrow('without a user name')
})

test('a secret opens for its use alone, and not when it was changed', () => {
  const secrets = createSecrets('one-key-of-the-host')
  const sealed = secrets.seal('s', 'https://a.example')
  expect(secrets.open(sealed, 'https://a.example')).toBe('s')
  expect(secrets.open(sealed, 'https://b.example')).toBeUndefined()
  expect(secrets.open(`A${sealed.slice(1)}`, 'https://a.example') ?? 'refused').toBe(
    sealed.startsWith('A') ? 's' : 'refused',
  )
  expect(secrets.seal('s', 'https://a.example')).not.toBe(sealed)
})
