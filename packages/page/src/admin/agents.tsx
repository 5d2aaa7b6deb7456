import type { DocumentSetSummary, FullPersona, PersonaFields, ToolSnapshot } from '@inlay/protocol'
import type { McpServerSnapshot, McpServerSnapshots } from '@inlay/protocol/administration'
import { useState } from 'preact/hooks'
import { Avatar } from '../controls/avatar.tsx'
import { Button } from '../controls/button.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { adminTexts } from '../texts/view-texts.ts'
import { texts as pageTexts } from '../texts/texts.ts'
import { purposeOf } from './actions.tsx'
import type { ServiceCalls } from '../service/calls.ts'
import { Area, Check, Checks, Field, Form, linesOf, Removal, textOf, Waiting } from './parts.tsx'

interface Known {
  readonly agents: readonly FullPersona[]
  readonly sets: readonly DocumentSetSummary[]
  readonly tools: readonly ToolSnapshot[]
  readonly servers: McpServerSnapshots['mcp_servers']
}

interface AgentsProps {
  readonly calls: ServiceCalls
  readonly agentsChanged: () => void
  readonly tryAgent: (agentId: number) => void
}

export function Agents({ calls, agentsChanged, tryAgent }: AgentsProps) {
  const texts = adminTexts.agent
  const known = useLoaded(
    async (signal): Promise<Known> => {
      const [agents, sets, tools, { mcp_servers: servers }] = await Promise.all([
        calls.get<readonly FullPersona[]>('/admin/persona', signal),
        calls.client.documentSets({ signal }),
        calls.client.tools({ signal }),
        calls.get<McpServerSnapshots>('/admin/mcp/servers', signal),
      ])
      return { agents, sets, tools, servers }
    },
    [calls],
  )
  const [edited, setEdited] = useState<number | 'new' | null>(null)
  const changed = async (): Promise<void> => {
    await known.reload()
    setEdited(null)
    agentsChanged()
  }
  const { value } = known
  return (
    <>
      <p class="lead">{texts.lead}</p>
      <Waiting loaded={known} />
      {value !== undefined &&
        (edited === 'new' ? (
          <AgentForm calls={calls} known={value} changed={changed} cancel={() => setEdited(null)} />
        ) : (
          <Button kind="filled" class="u-begin" onClick={() => setEdited('new')}>
            {texts.new}
          </Button>
        ))}
      {value !== undefined && value.agents.every(({ id }) => id === 0) && <p class="nothing u-muted">{texts.none}</p>}
      <ul class="cards u-grid u-gap-10">
        {value?.agents.map((agent) =>
          edited === agent.id ? (
            <li key={agent.id} class="card u-grid u-gap-8 u-min-0 u-card">
              <AgentForm calls={calls} known={value} agent={agent} changed={changed} cancel={() => setEdited(null)} />
            </li>
          ) : (
            <li key={agent.id} class="card card-head u-grid u-wrap u-center u-gap-8 u-min-0 u-card">
              <Avatar name={agent.name} pictureId={agent.uploaded_image_id} readFile={calls.client.files.content} />
              <div class="card-name u-min-0 u-anywhere">
                <h2>{agent.name}</h2>
                <p class="facts u-small u-anywhere">{factsOf(agent)}</p>
              </div>
              <div class="row">
                <Button label={texts.tryThing(agent.name)} onClick={() => tryAgent(agent.id)}>
                  {adminTexts.try}
                </Button>
                {!agent.builtin_persona && (
                  <>
                    <Button label={adminTexts.changeThing(agent.name)} onClick={() => setEdited(agent.id)}>
                      {adminTexts.change}
                    </Button>
                    <Removal
                      name={agent.name}
                      question={texts.deleteAsk(agent.name)}
                      remove={() => calls.client.agents.remove(agent.id).then(changed)}
                    />
                  </>
                )}
              </div>
            </li>
          ),
        )}
      </ul>
    </>
  )
}

function factsOf(agent: FullPersona): string {
  const texts = adminTexts.agent
  const state = agent.builtin_persona ? texts.builtIn : agent.is_public ? texts.visibleToAll : texts.private
  return [state, agent.description].filter((fact) => fact !== '').join(' · ')
}

interface AgentFormProps {
  readonly calls: ServiceCalls
  readonly known: Known
  /** The agent to edit; absent for a new one. */
  readonly agent?: FullPersona
  readonly changed: () => Promise<void>
  readonly cancel: () => void
}

function AgentForm({ calls, known, agent, changed, cancel }: AgentFormProps) {
  const texts = adminTexts.agent
  const submit = async (fields: FormData): Promise<void> => {
    const picture = await uploadPicture(calls, fields.get('picture'))
    const change = {
      ...agentFields(fields, agent),
      ...(picture !== null && { uploaded_image_id: picture }),
      ...(fields.has('remove_picture') && { remove_image: true }),
    }
    if (agent === undefined) await calls.client.agents.create({ task_prompt: '', datetime_aware: true, ...change })
    else await calls.client.agents.update(agent.id, change)
    await changed()
  }
  const selectable = known.tools.filter((tool) => tool.agent_creation_selectable)
  const serverOf = (tool: ToolSnapshot): McpServerSnapshot | undefined =>
    known.servers.find(({ id }) => id === tool.mcp_server_id)
  const preset = selectable.filter((tool) => tool.default_enabled || tool.in_code_tool_id === 'SearchTool')
  const chosen = (agent?.tools ?? preset).map(({ id }) => String(id))
  return (
    <Form
      label={agent === undefined ? texts.new : adminTexts.changeThing(agent.name)}
      action={agent === undefined ? texts.createAgent : pageTexts.frame.save}
      submit={submit}
      cancel={cancel}
    >
      <div class="fields u-grid u-gap-12">
        <Field label={adminTexts.name} name="name" required maxLength={255} defaultValue={agent?.name ?? ''} isFirst />
        <Field label={texts.description} name="description" defaultValue={agent?.description ?? ''} />
      </div>
      <Area
        label={texts.instructions}
        hint={texts.instructionsHint}
        name="instructions"
        rows={6}
        defaultValue={agent?.system_prompt ?? ''}
      />
      <Area
        label={texts.starters}
        name="starters"
        rows={3}
        defaultValue={agent?.starter_messages?.map(({ message }) => message).join('\n') ?? ''}
      />
      {known.sets.length > 0 && (
        <>
          <Checks
            label={texts.documents}
            name="sets"
            options={known.sets.map(({ id, name }) => [String(id), name])}
            chosen={agent?.document_sets.map(({ id }) => String(id)) ?? []}
          />
          <p class="facts u-small u-anywhere">{texts.allDocuments}</p>
        </>
      )}
      {[undefined, ...known.servers].map((server) => {
        const tools = selectable.filter((tool) => serverOf(tool)?.id === server?.id)
        if (tools.length === 0) return null
        return (
          <Checks
            key={server?.id}
            label={server?.name ?? texts.actions}
            name="tools"
            options={tools.map((tool) => [String(tool.id), tool.display_name, purposeOf(tool)])}
            chosen={chosen}
            {...(server && { all: texts.allOfServer })}
          />
        )
      })}
      <Field label={texts.picture} name="picture" type="file" accept="image/png,image/jpeg,image/webp" />
      {agent?.uploaded_image_id ? <Check label={texts.removePicture} name="remove_picture" checked={false} /> : null}
      <Check label={texts.isPublic} name="is_public" checked={agent?.is_public ?? true} />
    </Form>
  )
}

function agentFields(fields: FormData, agent: FullPersona | undefined) {
  // A suggestion that was not changed keeps the short name it was given.
  const nameOf = new Map(agent?.starter_messages?.map(({ name, message }) => [message, name]) ?? [])
  return {
    name: textOf(fields, 'name'),
    description: textOf(fields, 'description'),
    system_prompt: textOf(fields, 'instructions'),
    starter_messages: linesOf(fields, 'starters').map((message) => ({ name: nameOf.get(message) ?? message, message })),
    document_set_ids: fields.getAll('sets').map(Number),
    tool_ids: fields.getAll('tools').map(Number),
    is_public: fields.has('is_public'),
  } satisfies PersonaFields
}

/** Id of the uploaded picture; null if none was selected. */
async function uploadPicture(calls: ServiceCalls, picture: FormDataEntryValue | null): Promise<string | null> {
  if (!(picture instanceof File) || picture.size === 0) return null
  const form = new FormData()
  form.set('file', picture)
  const { file_id: id } = await calls.send<{ file_id: string }>('POST', '/persona/upload-image', form)
  return id
}
