import type { ModelProvider } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import type { LocalModels } from '@inlay/protocol/administration'
import type { LocalModelAdministration, WorkspaceRecords, WorkspaceValues } from '@inlay/server'
import type { InlayOptions } from '../options/inlay-options.ts'
import type { LanguageModelChoice } from '../options/model-options.ts'
import { findLocalModels, type LocalModelServer } from '../settings/local-models.ts'

export function offersLocalModels({ localModels, model }: InlayOptions): boolean {
  return localModels === true && model === undefined
}

type Choice = WorkspaceValues['local_model']

export interface LocalModelPartsOptions {
  /** Used while no local model is selected. */
  readonly configured: ModelProvider
  readonly workspace: Pick<WorkspaceRecords, 'get' | 'put' | 'remove'>
  readonly make: (choices: readonly LanguageModelChoice[]) => Promise<ModelProvider>
  /** Default: {@link findLocalModels}. */
  readonly find?: () => Promise<readonly LocalModelServer[]>
}

/** Local models that an administrator can select at run time; processes with the same database share the selection. */
export function localModelParts({ configured, workspace, make, find = findLocalModels }: LocalModelPartsOptions): {
  readonly models: ModelProvider
  readonly localModels: LocalModelAdministration
} {
  let latest: { readonly key: string; readonly models: Promise<ModelProvider> } | undefined
  const chosen = async (): Promise<Choice | undefined> => (await workspace.get('local_model', 1))?.value
  const current = async (): Promise<ModelProvider> => {
    const choice = await chosen()
    if (choice === undefined) return configured
    const key = JSON.stringify(choice)
    const { model: name, baseUrl, server: provider } = choice
    if (latest?.key !== key) latest = { key, models: make([{ name, baseUrl, provider }, 'extractive']) }
    return latest.models
  }
  const list = async (servers: readonly LocalModelServer[]): Promise<LocalModels> => {
    const choice = await chosen()
    return {
      servers: servers.map(({ name, baseUrl, models }) => ({ name, base_url: baseUrl, models })),
      chosen: choice ? { server: choice.server, base_url: choice.baseUrl, model: choice.model } : null,
    }
  }
  return {
    models: {
      resolve: async (override) => (await current()).resolve(override),
      list: async () => (await current()).list(),
    },
    localModels: {
      list: async () => list(await find()),
      async choose(choice) {
        const servers = await find()
        if (choice === null) await workspace.remove('local_model', 1)
        else {
          const server = servers.find((each) => each.baseUrl === choice.base_url && each.models.includes(choice.model))
          // Only detected servers can be selected: a URL from the caller could reach anything on this machine.
          if (!server) throw new InlayError('NOT_FOUND', { message: 'This model is not running on this machine.' })
          await workspace.put('local_model', 1, { server: server.name, baseUrl: server.baseUrl, model: choice.model })
        }
        return list(servers)
      },
    },
  }
}
