import { isInlayError, type ToolSnapshot } from '@inlay/protocol'
import type { McpServerSnapshot, McpServerSnapshots, McpSignInAddress } from '@inlay/protocol/administration'
import { useEffect, useState } from 'preact/hooks'
import { toFailure, type Failure } from '../service/failure.ts'
import { adminTexts } from '../texts/view-texts.ts'
import type { ServiceCalls } from '../service/calls.ts'
import { beginSignIn, signInReturn, takeSignIn } from './sign-in.ts'
import { Field, Form, Removal, textOf, useRead, Waiting } from './parts.tsx'
import { Button } from '../controls/button.tsx'

export function McpServers({ calls, changed }: { calls: ServiceCalls; changed: () => Promise<void> }) {
  const texts = adminTexts.action
  const servers = useRead<McpServerSnapshots>(calls, '/admin/mcp/servers')
  // A form that was sent is empty again.
  const [added, setAdded] = useState(0)
  const reload = async (): Promise<void> => {
    await Promise.all([servers.reload(), changed()])
  }
  return (
    <section class="admin-section" aria-labelledby="mcp-title">
      <h2 id="mcp-title">{texts.mcp}</h2>
      <Waiting loaded={servers} />
      <ul class="cards u-grid u-gap-10">
        {servers.value?.mcp_servers.map((server) => (
          <li key={server.id} class="card u-grid u-gap-8 u-min-0 u-card">
            <ServerCard calls={calls} server={server} changed={reload} />
          </li>
        ))}
      </ul>
      <details>
        <summary>{texts.mcpAdd}</summary>
        <p class="lead">{texts.mcpLead}</p>
        <Form
          key={added}
          label={texts.mcpAdd}
          action={texts.mcpAddServer}
          submit={async (fields) => {
            const token = textOf(fields, 'token')
            await calls.send('POST', '/admin/mcp/servers/create', {
              name: textOf(fields, 'name'),
              server_url: textOf(fields, 'address'),
              ...(token !== '' && { auth_type: 'API_TOKEN', api_token: token }),
            })
            setAdded(added + 1)
            await reload()
          }}
        >
          <div class="fields u-grid u-gap-12">
            <Field label={texts.mcpName} name="name" required maxLength={100} />
            <Field label={texts.mcpUrl} name="address" required placeholder="https://wiki.example/mcp" />
            <Field label={texts.mcpToken} name="token" type="password" />
          </div>
        </Form>
      </details>
    </section>
  )
}

interface ServerCardProps {
  readonly calls: ServiceCalls
  readonly server: McpServerSnapshot
  readonly changed: () => Promise<void>
}

function ServerCard({ calls, server, changed }: ServerCardProps) {
  const texts = adminTexts.action
  const { id, name } = server
  const [tried, setTried] = useState<'asking' | readonly ToolSnapshot[] | Failure | undefined>(undefined)
  const [asksToSignIn, setAsksToSignIn] = useState(false)
  const fail = (error: unknown): void => {
    setAsksToSignIn(isInlayError(error) && error.code === 'AUTH_ERROR')
    setTried(toFailure(error))
  }
  const run = (before?: Promise<unknown>): void => {
    setTried('asking')
    Promise.resolve(before)
      .then(() => calls.get<readonly ToolSnapshot[]>(`/admin/mcp/server/${id}/tools/snapshots`))
      .then((tools) => {
        setAsksToSignIn(false)
        setTried(tools)
      }, fail)
  }
  const signIn = (): void => {
    beginSignIn(id)
    calls
      .send<McpSignInAddress>('POST', `/admin/mcp/server/${id}/sign-in`, { redirect_url: signInReturn() })
      .then(({ url }) => location.assign(url), fail)
  }
  useEffect(() => {
    const query = takeSignIn(id)
    if (query !== undefined) run(calls.send('PUT', `/admin/mcp/server/${id}/sign-in`, { query }).then(changed))
  }, [])
  return (
    <>
      <div class="card-head u-wrap u-center">
        <div class="card-name u-min-0 u-anywhere">
          <h3>{name}</h3>
          <p class="facts u-small u-anywhere">{server.server_url ?? texts.mcpOfSettings}</p>
        </div>
        {server.is_added && (
          <div class="row">
            <Button label={texts.tryThing(name)} disabled={tried === 'asking'} onClick={() => run()}>
              {adminTexts.try}
            </Button>
            {asksToSignIn && (
              <Button kind="filled" label={texts.mcpSignInTo(name)} onClick={signIn}>
                {texts.mcpSignIn}
              </Button>
            )}
            <Removal
              name={name}
              question={texts.deleteAsk(name)}
              remove={() => calls.send('DELETE', `/admin/mcp/server/${id}`).then(changed)}
            />
          </div>
        )}
      </div>
      <p
        role="status"
        class={tried !== undefined && 'message' in Object(tried) ? 'failure-words' : 'facts u-small u-anywhere'}
      >
        {tried === 'asking' && texts.mcpAsking}
        {typeof tried === 'object' &&
          ('message' in tried ? tried.message : texts.mcpTools(tried.map((tool) => tool.name)))}
      </p>
    </>
  )
}
