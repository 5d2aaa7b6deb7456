import type { ToolHeader, ToolMethods, ToolSnapshot, ToolStatus } from '@inlay/protocol'
import type { ToolFunction, ToolFunctions, ToolTest } from '@inlay/protocol/administration'
import { useState } from 'preact/hooks'
import { toFailure, type Failure } from '../service/failure.ts'
import { adminTexts } from '../texts/view-texts.ts'
import { FailureNote } from '../controls/failure-note.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import type { ServiceCalls } from '../service/calls.ts'
import { McpServers } from './mcp-servers.tsx'
import { maxChosen, OperationChoice, Skipped } from './operation-choice.tsx'
import { Area, BadField, Check, Choice, Field, Form, linesOf, Removal, textOf, useRead, Waiting } from './parts.tsx'
import { Button } from '../controls/button.tsx'

export function Actions({ calls }: { calls: ServiceCalls }) {
  const texts = adminTexts.action
  const actions = useLoaded(
    async (signal) => {
      const [own, available] = await Promise.all([
        calls.get<readonly ToolSnapshot[]>('/tool/openapi', signal),
        calls.client.tools({ signal }),
      ])
      // The first list has those that are turned off as well.
      const ids = new Set(own.map(({ id }) => id))
      return [...own, ...available.filter(({ id }) => !ids.has(id))]
    },
    [calls],
  )
  return (
    <>
      <p class="lead">{texts.lead}</p>
      <Waiting loaded={actions} />
      <ul class="cards u-grid u-gap-10">
        {actions.value?.map((action) => (
          <li key={action.id} class="card u-grid u-gap-8 u-min-0 u-card">
            <ActionCard action={action} calls={calls} changed={actions.reload} />
          </li>
        ))}
      </ul>
      <NewAction calls={calls} changed={actions.reload} />
      <McpServers calls={calls} changed={actions.reload} />
    </>
  )
}

interface ActionCardProps {
  readonly action: ToolSnapshot
  readonly calls: ServiceCalls
  readonly changed: () => Promise<void>
}

/** What an action is for, in words for people: the description of a built-in one instructs the model. */
export function purposeOf({ name, description }: Pick<ToolSnapshot, 'name' | 'description'>): string {
  const purposes: Readonly<Record<string, string>> = adminTexts.action.purposes
  return (Object.hasOwn(purposes, name) && purposes[name]) || description
}

function ActionCard({ action, calls, changed }: ActionCardProps) {
  const texts = adminTexts.action
  const [isTried, setIsTried] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const name = action.display_name
  const isOwn = action.definition !== null
  const origin = isOwn ? texts.own : action.mcp_server_id !== null ? texts.fromMcp(action.mcp_server_id) : texts.builtIn
  return (
    <>
      <div class="card-head u-wrap u-center">
        <div class="card-name u-min-0 u-anywhere">
          <h2>{name}</h2>
          <span class="badge u-text u-medium u-round-10 u-soft">{origin}</span>
          <p class="facts u-small u-anywhere">{purposeOf(action)}</p>
        </div>
        <div class="row">
          {isOwn && (
            <label class="check u-flex u-gap-8 u-baseline">
              <input
                type="checkbox"
                role="switch"
                aria-label={texts.turnOn(name)}
                checked={action.enabled}
                onChange={(event) => {
                  const body = { tool_ids: [action.id], enabled: event.currentTarget.checked }
                  calls
                    .send<ToolStatus>('PATCH', '/admin/tool/status', body)
                    .then(changed)
                    .catch((error: unknown) => setFailure(toFailure(error)))
                }}
              />
              <span aria-hidden="true">{texts.enabled}</span>
            </label>
          )}
          {/* Those that are built in need a chat. */}
          {action.in_code_tool_id === null && (
            <Button
              label={texts.tryThing(name)}
              aria-expanded={isTried}
              disabled={!action.enabled}
              onClick={() => setIsTried(!isTried)}
            >
              {adminTexts.try}
            </Button>
          )}
          {isOwn && (
            <Removal
              name={name}
              question={texts.deleteAsk(name)}
              remove={() => calls.send('DELETE', `/admin/tool/custom/${action.id}`).then(changed)}
            />
          )}
        </div>
      </div>
      {failure !== null && <FailureNote failure={failure} />}
      {isTried && <Trial action={action} calls={calls} />}
    </>
  )
}

function Trial({ action, calls }: { action: ToolSnapshot; calls: ServiceCalls }) {
  const texts = adminTexts.action
  const read = useRead<ToolFunctions>(calls, `/admin/tool/${action.id}/functions`)
  const functions = read.value?.functions ?? []
  const [name, setName] = useState('')
  const [test, setTest] = useState<ToolTest | null>(null)
  const chosen = functions.find((known) => known.name === name) ?? functions[0]
  return (
    <>
      <Waiting loaded={read} />
      {chosen !== undefined && (
        <Form
          label={texts.tryThing(action.display_name)}
          action={texts.call}
          submit={async (fields) => {
            setTest(null)
            const body = { name: chosen.name, arguments: argumentsOf(textOf(fields, 'arguments')) }
            setTest(await calls.send<ToolTest>('POST', `/admin/tool/${action.id}/test`, body))
          }}
        >
          {functions.length > 1 && (
            <Choice
              label={texts.function}
              options={functions.map((known) => [known.name])}
              value={chosen.name}
              onChange={setName}
            />
          )}
          <p class="facts u-small u-anywhere">{chosen.description}</p>
          <Area
            key={chosen.name}
            label={texts.arguments}
            name="arguments"
            class="code"
            defaultValue={exampleOf(chosen)}
          />
          {test !== null && (
            <div role="status">
              <p class={test.ok ? 'facts u-small u-anywhere' : 'failure-words'}>
                {test.ok ? texts.succeeded(test.duration_ms) : texts.failed(test.duration_ms)}
              </p>
              <pre class="result" aria-label={texts.result} tabIndex={0} role="group">
                {test.result}
              </pre>
            </div>
          )}
        </Form>
      )}
    </>
  )
}

function argumentsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Told below.
  }
  throw new BadField(adminTexts.action.notJson)
}

const blanks: Readonly<Record<string, unknown>> = {
  string: '',
  integer: 0,
  number: 0,
  boolean: false,
  array: [],
  object: {},
}

/** Arguments to fill in: those that are required, or all where none is. */
export function exampleOf({ parameters }: Pick<ToolFunction, 'parameters'>): string {
  const { properties = {}, required = [] } = parameters as {
    properties?: Record<string, { type?: string; default?: unknown; enum?: unknown[] }>
    required?: readonly string[]
  }
  const names = required.length > 0 ? required : Object.keys(properties)
  const entries = names.map((name) => {
    const { type = 'string', default: usual, enum: choices } = properties[name] ?? {}
    return [name, usual ?? choices?.[0] ?? blanks[type] ?? null]
  })
  return JSON.stringify(Object.fromEntries(entries), null, 2)
}

function NewAction({ calls, changed }: { calls: ServiceCalls; changed: () => Promise<void> }) {
  const texts = adminTexts.action
  const [checked, setChecked] = useState<ToolMethods | null>(null)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [leftOut, setLeftOut] = useState<ToolMethods['skipped']>([])
  const [round, setRound] = useState(0)
  const [failure, setFailure] = useState<Failure | null>(null)
  const check = async (form: HTMLFormElement): Promise<void> => {
    setFailure(null)
    setChecked(null)
    try {
      const body = { definition: await definitionOf(new FormData(form)) }
      const found = await calls.send<ToolMethods>('POST', '/admin/tool/custom/validate', body)
      setChecked(found)
      // A model reads all of them with each message: of many, people choose.
      setChosen(new Set(found.methods.length > maxChosen ? [] : found.methods.map(({ name }) => name)))
    } catch (error) {
      setFailure(error instanceof BadField ? { message: error.message, retryable: false } : toFailure(error))
    }
  }
  return (
    <details class="admin-section">
      <summary>{texts.new}</summary>
      <Form
        key={round}
        label={texts.new}
        action={texts.createAction}
        submit={async (fields) => {
          if (checked !== null && (chosen.size === 0 || chosen.size > maxChosen)) throw new BadField(texts.chooseFew)
          const { skipped = [] } = await calls.send<ToolSnapshot>('POST', '/admin/tool/custom', {
            name: textOf(fields, 'name'),
            description: textOf(fields, 'description'),
            definition: await definitionOf(fields),
            operations: checked && [...chosen],
            server_url: textOf(fields, 'server_url') || null,
            custom_headers: headersOf(linesOf(fields, 'headers')),
            passthrough_auth: false,
            default_enabled: fields.has('for_all'),
          })
          setChecked(null)
          setLeftOut(skipped)
          setRound(round + 1)
          await changed()
        }}
      >
        <div class="fields u-grid u-gap-12">
          <Field label={adminTexts.name} name="name" required maxLength={255} />
          <Field label={texts.description} name="description" />
        </div>
        <div class="u-grid u-gap-12" onInput={() => setChecked(null)}>
          <Area
            label={texts.definition}
            name="definition"
            class="code"
            rows={6}
            placeholder="https://api.example/openapi.json"
          />
          <Field label={texts.definitionFile} name="file" type="file" accept=".json,.yaml,.yml" />
        </div>
        <div class="row">
          <Button onClick={({ currentTarget: { form } }) => form !== null && void check(form)}>{texts.check}</Button>
        </div>
        {failure !== null && <FailureNote failure={failure} />}
        {checked !== null && <OperationChoice checked={checked} chosen={chosen} choose={setChosen} />}
        <Field label={texts.server} name="server_url" placeholder={checked?.servers[0] ?? ''} list="servers" />
        <datalist id="servers">
          {checked?.servers.map((server) => (
            <option key={server} value={server} />
          ))}
        </datalist>
        <Area label={texts.headers} name="headers" rows={2} placeholder="Authorization: Bearer …" />
        <Check label={texts.forAll} name="for_all" checked={true} />
      </Form>
      <Skipped words={texts.leftOut(leftOut.length)} operations={leftOut} />
    </details>
  )
}

/** The document of a file, one that was pasted, or its address. */
async function definitionOf(fields: FormData): Promise<string> {
  const file = fields.get('file')
  const text = file instanceof File && file.size > 0 ? await file.text() : textOf(fields, 'definition')
  if (text === '') throw new BadField(adminTexts.action.noDefinition)
  return text
}

export function headersOf(lines: readonly string[]): readonly ToolHeader[] {
  return lines.map((line) => {
    const { name, value } = /^(?<name>[\w-]+):\s*(?<value>\S.*)$/.exec(line)?.groups ?? {}
    if (name === undefined || value === undefined) throw new BadField(adminTexts.action.badHeader)
    return { key: name, value }
  })
}
