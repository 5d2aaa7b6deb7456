import type { LlmProviders, ModelConfiguration } from '@inlay/protocol'
import type { LocalModelChange, LocalModels, ModelTest } from '@inlay/protocol/administration'
import type { JSX } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import { CopyButton } from '../controls/copy-button.tsx'
import { FailureNote } from '../controls/failure-note.tsx'
import { toFailure, type Failure } from '../service/failure.ts'
import { adminTexts } from '../texts/admin/texts.ts'
import type { AdminCalls } from './calls.ts'
import { Field, useLoaded, Waiting } from './parts.tsx'

/** The configured models, with a test for each; a choice of local models; and how to configure others. */
export function Models({ calls, modelChanged }: { calls: AdminCalls; modelChanged: () => void }): JSX.Element {
  const texts = adminTexts.model
  const read = useCallback((signal: AbortSignal) => calls.get<LlmProviders>('/admin/llm/provider', signal), [calls])
  const listed = useLoaded(read)
  return (
    <>
      <p class="lead">{texts.lead}</p>
      <Waiting loaded={listed} />
      <ul class="cards u-grid u-gap-10">
        {listed.value?.providers.flatMap((provider) =>
          provider.model_configurations.map((model) => (
            <li key={model.id} class="card u-grid u-gap-8 u-min-0 u-card">
              <ModelCard
                calls={calls}
                provider={provider.name}
                providerName={provider.provider_display_name}
                model={model}
                isDefault={
                  listed.value?.default_text?.provider_id === provider.id &&
                  listed.value.default_text.model_name === model.name
                }
              />
            </li>
          )),
        )}
      </ul>
      <LocalModelList
        calls={calls}
        changed={() => {
          modelChanged()
          void listed.reload()
        }}
      />
      <AddModel isNeeded={listed.value?.providers.every(({ provider }) => provider === 'extractive') ?? false} />
    </>
  )
}

interface ModelCardProps {
  readonly calls: AdminCalls
  readonly provider: string
  readonly providerName: string
  readonly model: ModelConfiguration
  readonly isDefault: boolean
}

function ModelCard({ calls, provider, providerName, model, isDefault }: ModelCardProps): JSX.Element {
  const texts = adminTexts.model
  const [test, setTest] = useState<'asking' | ModelTest | Failure | undefined>(undefined)
  const name = model.display_name ?? model.name
  const advice = typeof test === 'object' && 'ok' in test && !test.ok ? adviceFor(test.error_code) : undefined
  const run = (): void => {
    setTest('asking')
    calls
      .send<ModelTest>('POST', '/admin/llm/test', { model_provider: provider, model_version: model.name })
      .then(setTest, (error: unknown) => setTest(toFailure(error)))
  }
  const facts = [
    providerName,
    ...(model.max_input_tokens === null ? [] : [texts.contextTokens(model.max_input_tokens)]),
    ...(model.supports_image_input ? [texts.images] : []),
    ...(model.supports_reasoning ? [texts.reasons] : []),
  ]
  return (
    <>
      <div class="card-head u-wrap u-center">
        <div class="card-name u-min-0 u-anywhere">
          <h2>{name}</h2>
          {isDefault && <span class="badge u-text u-medium u-round-10 u-soft">{texts.default}</span>}
          <p class="facts u-small u-anywhere">{facts.join(' · ')}</p>
        </div>
        <button
          type="button"
          class="quiet-button"
          aria-label={texts.testThing(name)}
          disabled={test === 'asking'}
          onClick={run}
        >
          {texts.test}
        </button>
      </div>
      <p
        role="status"
        class={typeof test === 'object' && 'ok' in test && !test.ok ? 'failure-words' : 'facts u-small u-anywhere'}
      >
        {test === 'asking' && texts.testing}
        {typeof test === 'object' &&
          ('ok' in test
            ? test.ok
              ? texts.answered(test.text ?? '', test.duration_ms)
              : texts.failed(test.error ?? '')
            : test.message)}
        {advice !== undefined && <span class="u-text u-block">{advice}</span>}
      </p>
    </>
  )
}

/** What to do about a model that fails, by the code of its error. */
function adviceFor(code: string | null): string | undefined {
  const { advice } = adminTexts.model
  switch (code) {
    case 'AUTH_ERROR':
    case 'PERMISSION_DENIED':
      return advice.key
    case 'CONNECTION_ERROR':
      return advice.address
    case 'NOT_FOUND':
      return advice.name
    default:
      return undefined
  }
}

function LocalModelList({ calls, changed }: { calls: AdminCalls; changed: () => void }): JSX.Element {
  const texts = adminTexts.model
  const read = useCallback((signal: AbortSignal) => calls.get<LocalModels>('/admin/local-models', signal), [calls])
  const local = useLoaded(read)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [looks, setLooks] = useState(0)
  const choose = async (choice: LocalModelChange['choice']): Promise<void> => {
    setFailure(null)
    try {
      await calls.send('PUT', '/admin/local-models', { choice })
      await local.reload()
      changed()
    } catch (error) {
      setFailure(toFailure(error))
    }
  }
  const { servers = [], chosen = null } = local.value ?? {}
  return (
    <section class="admin-section" aria-labelledby="local-title">
      <h2 id="local-title">{texts.local}</h2>
      <p class="lead">{texts.localLead}</p>
      <Waiting loaded={local} />
      <p role="status" class="nothing u-muted">
        {local.failure === null &&
          local.value !== undefined &&
          servers.length === 0 &&
          (looks === 0 ? texts.noLocal : texts.stillNoLocal(looks))}
      </p>
      {failure !== null && <FailureNote failure={failure} />}
      <ul class="cards u-grid u-gap-10">
        {servers.flatMap((server) =>
          server.models.map((model) => (
            <li
              key={`${server.base_url} ${model}`}
              class="card card-head u-grid u-wrap u-center u-gap-8 u-min-0 u-card"
            >
              <div class="card-name u-min-0 u-anywhere">
                <h3>{model}</h3>
                <p class="facts u-small u-anywhere">
                  {server.name} · {server.base_url}
                </p>
              </div>
              {chosen?.base_url === server.base_url && chosen.model === model ? (
                <span class="badge u-text u-medium u-round-10 u-soft">{texts.inUse}</span>
              ) : (
                <button
                  type="button"
                  class="quiet-button"
                  aria-label={texts.useThing(model)}
                  onClick={() => void choose({ base_url: server.base_url, model })}
                >
                  {texts.use}
                </button>
              )}
            </li>
          )),
        )}
      </ul>
      <div class="row">
        <button
          type="button"
          class="quiet-button"
          onClick={() => void local.reload().then(() => setLooks((count) => count + 1))}
        >
          {texts.lookAgain}
        </button>
        {chosen !== null && (
          <button type="button" class="quiet-button" onClick={() => void choose(null)}>
            {texts.useBuiltIn}
          </button>
        )}
      </div>
    </section>
  )
}

/** Lines of the file `.env` for a model; the key is left for the operator to fill in. */
export function modelLines(model: string, address: string): string {
  if (address !== '')
    return [`INLAY_MODEL=${model}`, `INLAY_MODEL_BASE_URL=${address}`, 'INLAY_MODEL_API_KEY='].join('\n')
  const key = model.startsWith('anthropic/') ? 'ANTHROPIC_API_KEY=' : 'OPENAI_API_KEY='
  return [`INLAY_MODEL=${model.includes('/') ? model : `openai/${model}`}`, key].join('\n')
}

/** What is probably wrong with an address; undefined if nothing is. */
function addressHint(address: string): string | undefined {
  const texts = adminTexts.model
  if (address === '') return undefined
  if (!/^https?:\/\/./i.test(address)) return texts.addressNeedsScheme
  return /\/v\d/i.test(address) ? undefined : texts.addressNeedsVersion
}

/** @param isNeeded whether there is no other language model yet */
function AddModel({ isNeeded }: { isNeeded: boolean }): JSX.Element {
  const texts = adminTexts.model
  const [model, setModel] = useState('')
  const [address, setAddress] = useState('')
  const lines = modelLines(model.trim() || texts.modelPlaceholder, address.trim())
  return (
    <details class="admin-section" open={isNeeded}>
      <summary>{texts.add}</summary>
      <p class="lead">{texts.addLead}</p>
      <div class="fields u-grid u-gap-12">
        <Field label={texts.modelName} value={model} placeholder="openai/gpt-5.2" onInput={setModel} />
        <Field label={texts.serverUrl} value={address} placeholder="http://localhost:8000/v1" onInput={setAddress} />
      </div>
      <p role="status" class="facts u-small u-anywhere">
        {addressHint(address.trim())}
      </p>
      <EnvLines lines={lines} />
    </details>
  )
}

/** Lines for the file `.env`, to be copied. */
export function EnvLines({ lines }: { lines: string }): JSX.Element {
  return (
    <div class="env-lines u-flex u-wrap u-gap-8">
      <pre aria-label={adminTexts.model.lines} tabIndex={0} role="group">
        {lines}
      </pre>
      <CopyButton text={lines} label={adminTexts.model.copyLines} />
    </div>
  )
}
