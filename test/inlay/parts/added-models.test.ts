import type { ModelProvider } from '@inlay/agent'
import { createWorkspaceRecords, migrateServer, type WorkspaceRecords } from '@inlay/server'
import { addedModelParts } from 'inlay/internal/parts/added-models'
import { configuredModels } from 'inlay/internal/parts/open-parts'
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

const open = async (workspace: WorkspaceRecords, secretKey: string) =>
  addedModelParts({
    configured: await configuredModels('extractive', () => {}),
    workspace,
    secrets: createSecrets(secretKey),
    make: (choices): Promise<ModelProvider> => configuredModels(choices, () => {}),
  })

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
