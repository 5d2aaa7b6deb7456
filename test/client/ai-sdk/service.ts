import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelProvider } from '@inlay/agent'
import { scriptedModel, type Script, type ScriptedModel } from '@inlay/agent/testing'
import type { InlayUIMessage } from '@inlay/client/ai-sdk'
import { AbstractChat, type ChatInit, type ChatState, type ChatStatus } from 'ai'
import { closeServer, createInlay, nodeListener, type InlayOptions } from 'inlay'
import { onTestFinished } from 'vitest'

export const apiKey = 'inlay_front_end_test_key_01234567'

/** A real service on its own port, which ends with the test. */
export interface RunningService {
  readonly baseUrl: string
  readonly model: ScriptedModel
}

/** Serves an assistant whose model follows a script, over documents about leave. */
export async function startService(script: Script, options: InlayOptions = {}): Promise<RunningService> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-ai-sdk-'))
  const model = scriptedModel(script)
  const inlay = createInlay({
    dataFolder,
    apiKey,
    worker: { lingerMs: 1 },
    onError: () => {},
    searchHelp: { expand: false },
    sessionNames: 'off',
    model: scriptedModels(model),
    ...options,
  })
  const server = createServer(nodeListener(inlay.fetch))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await closeServer(server, inlay)
    rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 })
  })
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo
  return { baseUrl: `http://127.0.0.1:${port}/api`, model }
}

function scriptedModels(model: ScriptedModel): ModelProvider {
  const facts = {
    provider: 'scripted',
    name: 'scripted',
    displayName: 'Scripted',
    contextTokens: 32_000,
    takesImages: true,
  }
  return {
    resolve: async () => ({ ...facts, model }),
    list: async () => [{ ...facts, providerType: 'scripted', providerDisplayName: 'Scripted', isDefault: true }],
  }
}

/** A chat of the AI SDK without React. */
export class PlainChat extends AbstractChat<InlayUIMessage> {
  constructor({ messages = [], ...init }: ChatInit<InlayUIMessage>) {
    const state: ChatState<InlayUIMessage> = {
      status: 'ready' as ChatStatus,
      error: undefined,
      messages,
      pushMessage: (message) => void (state.messages = [...state.messages, message]),
      popMessage: () => void (state.messages = state.messages.slice(0, -1)),
      replaceMessage: (index, message) => void (state.messages = state.messages.with(index, structuredClone(message))),
      snapshot: (value) => structuredClone(value),
    }
    super({ ...init, state })
  }
}
