import type { ApiKeyDescriptor, LimitSet } from '@inlay/protocol/administration'
import { scopes } from '@inlay/protocol'
import { useState } from 'preact/hooks'
import { CopyButton } from '../controls/copy-button.tsx'
import type { Loaded } from '../controls/use-loaded.ts'
import { adminTexts } from '../texts/view-texts.ts'
import { formatDay } from '../texts/locale.ts'
import type { ServiceCalls } from '../service/calls.ts'
import { BadField, Checks, Choice, Field, Form, Removal, textOf, useRead, Waiting } from './parts.tsx'
import { Button } from '../controls/button.tsx'

export function Keys({ calls }: { calls: ServiceCalls }) {
  const texts = adminTexts.key
  const keys = useRead<readonly ApiKeyDescriptor[]>(calls, '/admin/api-key')
  const [isNew, setIsNew] = useState(false)
  const [made, setMade] = useState<string | null>(null)
  return (
    <>
      <p class="lead">{texts.lead}</p>
      {made !== null && <MadeKey apiKey={made} hide={() => setMade(null)} />}
      {isNew ? (
        <KeyForm
          label={texts.new}
          action={texts.createKey}
          cancel={() => setIsNew(false)}
          submit={async (body) => {
            const key = await calls.send<ApiKeyDescriptor>('POST', '/admin/api-key', body)
            setMade(key.api_key)
            setIsNew(false)
            await keys.reload()
          }}
        />
      ) : (
        <Button kind="filled" class="u-begin" onClick={() => setIsNew(true)}>
          {texts.new}
        </Button>
      )}
      <Waiting loaded={keys} />
      {keys.value?.length === 0 && <p class="nothing u-muted">{texts.none}</p>}
      <ul class="cards u-grid u-gap-10">
        {keys.value?.map((key) => (
          <KeyCard key={key.api_key_id} listed={key} calls={calls} keys={keys} />
        ))}
      </ul>
    </>
  )
}

function MadeKey({ apiKey, hide }: { apiKey: string; hide: () => void }) {
  const texts = adminTexts.key
  return (
    <div class="made-key u-grid u-gap-10 u-round u-soft" role="status">
      <p>{texts.created}</p>
      <div class="row u-full">
        <input
          type="text"
          readOnly
          value={apiKey}
          aria-label={texts.theKey}
          ref={(field) => field?.select()}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={apiKey} label={texts.copyKey} />
      </div>
      <Button onClick={hide}>{texts.hide}</Button>
    </div>
  )
}

function KeyCard({ listed, calls, keys }: { listed: ApiKeyDescriptor; calls: ServiceCalls; keys: Loaded<unknown> }) {
  const texts = adminTexts.key
  const [isChanging, setIsChanging] = useState(false)
  const name = listed.api_key_name ?? texts.unnamed
  const path = `/admin/api-key/${listed.api_key_id}`
  const facts = [
    listed.api_key_display,
    listed.scopes.join(', '),
    ...(listed.email === null ? [] : [listed.email]),
    listed.last_used_at === null ? texts.neverUsed : texts.lastUsed(formatDay(new Date(listed.last_used_at))),
    ...(listed.expires_at === null ? [] : [texts.expiresAt(formatDay(new Date(listed.expires_at)))]),
    ...(listed.limits === null ? [] : [texts.limited]),
  ]
  if (isChanging)
    return (
      <li class="card u-grid u-gap-8 u-min-0 u-card">
        <KeyForm
          label={adminTexts.changeThing(name)}
          action={adminTexts.change}
          listed={listed}
          cancel={() => setIsChanging(false)}
          submit={async (body) => {
            await calls.send('PATCH', path, body)
            await keys.reload()
            setIsChanging(false)
          }}
        />
      </li>
    )
  return (
    <li class="card card-head u-grid u-wrap u-center u-gap-8 u-min-0 u-card">
      <div class="card-name u-min-0 u-anywhere">
        <h2>{name}</h2>
        <p class="facts u-small u-anywhere">{facts.join(' · ')}</p>
      </div>
      <div class="row">
        <Button label={adminTexts.changeThing(name)} onClick={() => setIsChanging(true)}>
          {adminTexts.change}
        </Button>
        <Removal
          name={name}
          words={texts.revoke}
          label={texts.revokeThing(name)}
          question={texts.revokeAsk}
          remove={() => calls.send('DELETE', path).then(keys.reload)}
        />
      </div>
    </li>
  )
}

interface KeyFormProps {
  readonly label: string
  readonly action: string
  /** The key to edit; absent for a new one. */
  readonly listed?: ApiKeyDescriptor
  readonly submit: (body: object) => Promise<void>
  readonly cancel: () => void
}

const dayMs = 86_400_000

function KeyForm({ label, action, listed, submit, cancel }: KeyFormProps) {
  const texts = adminTexts.key
  return (
    <Form
      label={label}
      action={action}
      cancel={cancel}
      submit={async (fields) => {
        const chosen = fields.getAll('scopes')
        if (chosen.length === 0) throw new BadField(texts.needsScope)
        const days = textOf(fields, 'expires')
        await submit({
          name: textOf(fields, 'name') || null,
          scopes: chosen,
          email: textOf(fields, 'email') || null,
          groups: textOf(fields, 'groups')
            .split(',')
            .map((group) => group.trim())
            .filter((group) => group !== ''),
          limits: limitsOf(fields),
          ...(days !== 'same' && {
            expires_at: days === '' ? null : new Date(Date.now() + Number(days) * dayMs).toISOString(),
          }),
        })
      }}
    >
      <div class="fields u-grid u-gap-12">
        <Field
          label={adminTexts.name}
          name="name"
          maxLength={200}
          placeholder={texts.namePlaceholder}
          defaultValue={listed?.api_key_name ?? ''}
          isFirst
        />
        <Choice
          label={texts.expires}
          name="expires"
          options={[
            ...(listed?.expires_at ? [['same', formatDay(new Date(listed.expires_at))] as const] : []),
            ['', texts.never],
            ...[1, 30, 90, 365].map((days) => [days, texts.afterDays(days)] as const),
          ]}
        />
      </div>
      <Checks
        label={texts.scopes}
        name="scopes"
        options={scopes.map((scope) => [scope, texts[scope]])}
        chosen={listed?.scopes ?? ['chat', 'search']}
      />
      <div class="fields u-grid u-gap-12">
        <Field label={texts.email} name="email" type="email" defaultValue={listed?.email ?? ''} />
        <Field label={texts.groups} name="groups" defaultValue={listed?.groups.join(', ') ?? ''} />
      </div>
      <details open={listed !== undefined && listed.limits !== null}>
        <summary>{texts.limits}</summary>
        <p class="lead">{texts.limitsLead}</p>
        <LimitFields limits={listed?.limits ?? null} />
      </details>
    </Form>
  )
}

const limitLabels = {
  requests_per_minute: 'requests',
  tokens_per_day: 'tokens',
  uploads_per_day: 'uploads',
  sessions_per_day: 'sessions',
  documents_per_day: 'documents',
  waiting_documents: 'waiting',
} as const satisfies Record<keyof LimitSet, string>
const limitNames = Object.keys(limitLabels) as readonly (keyof LimitSet)[]

function LimitFields({ limits }: { limits: LimitSet | null }) {
  return (
    <div class="fields u-grid u-gap-12">
      {limitNames.map((name) => (
        <Field
          key={name}
          label={adminTexts.key[limitLabels[name]]}
          name={name}
          type="number"
          min={0}
          step={1}
          defaultValue={limits?.[name]?.toString() ?? ''}
        />
      ))}
    </div>
  )
}

/** Limits that were filled in; null when none was. */
export function limitsOf(fields: FormData): LimitSet | null {
  const entries = limitNames.map((name) => [name, textOf(fields, name)] as const)
  if (entries.every(([, text]) => text === '')) return null
  // The object has every name of the set.
  return Object.fromEntries(entries.map(([name, text]) => [name, text === '' ? null : Number(text)])) as LimitSet
}
