import type { LlmProvider, LlmProviders, ModelConfiguration } from '@inlay/protocol'
import type { LocalModelChange, LocalModels, ModelTest } from '@inlay/protocol/administration'
import { useState } from 'preact/hooks'
import { FailureNote } from '../controls/failure-note.tsx'
import { toFailure, type Failure } from '../service/failure.ts'
import { adminTexts } from '../texts/view-texts.ts'
import type { ServiceCalls } from '../service/calls.ts'
import { Area, Choice, Field, Form, linesOf, Removal, textOf, useRead, Waiting } from './parts.tsx'
import { Button } from '../controls/button.tsx'

export function Models({ calls, modelChanged }: { calls: ServiceCalls; modelChanged: () => void }) {
  const texts = adminTexts.model
  const listed = useRead<ListedProviders>(calls, '/admin/llm/provider')
  const changed = async (): Promise<void> => {
    modelChanged()
    await listed.reload()
  }
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
                changed={changed}
                provider={provider}
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
      <LocalModelList calls={calls} changed={() => void changed()} />
      <AddModel
        calls={calls}
        changed={changed}
        isNeeded={listed.value?.providers.every(({ provider }) => provider === 'extractive') ?? false}
      />
    </>
  )
}

/** With what administrators see beside it. */
type ListedProvider = LlmProvider & { readonly is_added: boolean }
type ListedProviders = Omit<LlmProviders, 'providers'> & { readonly providers: readonly ListedProvider[] }

interface ModelCardProps {
  readonly calls: ServiceCalls
  readonly changed: () => Promise<void>
  readonly provider: ListedProvider
  readonly model: ModelConfiguration
  readonly isDefault: boolean
}

function ModelCard({ calls, changed, provider, model, isDefault }: ModelCardProps) {
  const texts = adminTexts.model
  const [test, setTest] = useState<'asking' | ModelTest | Failure | undefined>(undefined)
  const name = model.display_name ?? model.name
  const advice = typeof test === 'object' && 'ok' in test && !test.ok ? adviceFor(test.error_code) : undefined
  const run = (): void => {
    setTest('asking')
    calls
      .send<ModelTest>('POST', '/admin/llm/test', { model_provider: provider.name, model_version: model.name })
      .then(setTest, (error: unknown) => setTest(toFailure(error)))
  }
  const choose = (): void => {
    calls
      .send('POST', '/admin/llm/default', { provider_id: provider.id, model_name: model.name })
      .then(changed, (error: unknown) => setTest(toFailure(error)))
  }
  const facts = [
    provider.provider_display_name,
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
        <div class="row">
          <Button label={texts.testThing(name)} disabled={test === 'asking'} onClick={run}>
            {texts.test}
          </Button>
          {/* Of the configured models the first is the default. */}
          {!isDefault && (provider.is_added || model.id === 1) && (
            <Button label={texts.makeDefaultThing(name)} onClick={choose}>
              {texts.makeDefault}
            </Button>
          )}
          {provider.is_added && (
            <Removal
              name={name}
              question={texts.deleteAsk(provider.provider_display_name, provider.model_configurations.length)}
              remove={() => calls.send('DELETE', `/admin/llm/provider/${provider.id}?force=true`).then(changed)}
            />
          )}
        </div>
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

function LocalModelList({ calls, changed }: { calls: ServiceCalls; changed: () => void }) {
  const texts = adminTexts.model
  const local = useRead<LocalModels>(calls, '/admin/local-models')
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
                <Button label={texts.useThing(model)} onClick={() => void choose({ base_url: server.base_url, model })}>
                  {texts.use}
                </Button>
              )}
            </li>
          )),
        )}
      </ul>
      <div class="row">
        <Button onClick={() => void local.reload().then(() => setLooks((count) => count + 1))}>
          {texts.lookAgain}
        </Button>
        {chosen !== null && <Button onClick={() => void choose(null)}>{texts.useBuiltIn}</Button>}
      </div>
    </section>
  )
}

/** What is probably wrong with an address; undefined if nothing is. */
function addressHint(address: string): string | undefined {
  const texts = adminTexts.model
  if (address === '') return undefined
  if (!/^https?:\/\/./i.test(address)) return texts.addressNeedsScheme
  return /\/v\d/i.test(address) ? undefined : texts.addressNeedsVersion
}

// As their makers write them; `openai-compatible` is any other server.
const makers = {
  'openai-compatible': undefined,
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  mistral: 'Mistral',
  deepseek: 'DeepSeek',
  groq: 'Groq',
  azure: 'Azure',
  xai: 'xAI',
  cohere: 'Cohere',
  'amazon-bedrock': 'Bedrock',
  openrouter: 'OpenRouter',
} as const

/** @param isNeeded whether there is no other language model yet */
function AddModel({ calls, changed, isNeeded }: Pick<ModelCardProps, 'calls' | 'changed'> & { isNeeded: boolean }) {
  const texts = adminTexts.model
  const [address, setAddress] = useState('')
  // A form that was sent is empty again.
  const [added, setAdded] = useState(0)
  return (
    <details class="admin-section" open={isNeeded}>
      <summary>{texts.add}</summary>
      <p class="lead">{texts.addLead}</p>
      <Form
        key={added}
        label={texts.add}
        action={texts.addModel}
        submit={async (fields) => {
          await calls.send('PUT', '/admin/llm/provider?is_creation=true', {
            name: textOf(fields, 'name'),
            provider: textOf(fields, 'provider'),
            api_base: textOf(fields, 'address') || null,
            api_key: textOf(fields, 'key') || null,
            api_key_changed: true,
            model_configurations: linesOf(fields, 'models').map((name) => ({ name, is_visible: true })),
          })
          setAdded(added + 1)
          setAddress('')
          await changed()
        }}
      >
        <div class="fields u-grid u-gap-12">
          <Choice
            label={texts.provider}
            options={Object.entries(makers).map(([maker, words]) => [maker, words ?? texts.compatible])}
            name="provider"
          />
          <Field label={texts.providerName} name="name" required maxLength={100} />
          <Field
            label={texts.serverUrl}
            name="address"
            placeholder="http://localhost:8000/v1"
            hint={addressHint(address.trim()) ?? texts.serverUrlHint}
            onInput={setAddress}
          />
          <Field label={texts.key} name="key" type="password" />
        </div>
        <Area label={texts.modelNames} name="models" rows={2} required />
      </Form>
    </details>
  )
}
