import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { adminSections } from '../address.ts'
import { adminTexts, loadAdminTexts } from '../texts/admin/texts.ts'
import type { Language } from '../texts/locale.ts'
import { Actions } from './actions.tsx'
import { Agents } from './agents.tsx'
import { Audit } from './audit.tsx'
import type { AdminPlaceProps } from './admin-place.tsx'
import { adminCalls } from './calls.ts'
import { Keys } from './keys.tsx'
import { Models } from './models.tsx'
import { Packets } from './packets.tsx'
import { Usage } from './usage.tsx'
import '../styles/admin.css'

/** Loads the texts of the administration, then returns its view. */
export async function loadAdminView(language: Language): Promise<typeof AdminView> {
  await loadAdminTexts(language)
  return AdminView
}

function AdminView({ section, access, service, ...props }: AdminPlaceProps): JSX.Element {
  const calls = useMemo(() => adminCalls(access.client, access.baseUrl, access.apiKey), [access])
  const shownTab = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    // On a phone there is not room for all.
    shownTab.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [section])
  return (
    <section class="admin" aria-labelledby="admin-title">
      <h1 id="admin-title">{adminTexts.title}</h1>
      <nav class="tabs" aria-label={adminTexts.sections}>
        {adminSections.map((name) => (
          <a
            key={name}
            href={`#admin/${name}`}
            aria-current={name === section ? 'page' : undefined}
            ref={name === section ? shownTab : undefined}
          >
            {adminTexts[name]}
          </a>
        ))}
        <a href="#health">{adminTexts.health}</a>
        <a href={`${calls.baseUrl}/docs`} target="_blank" rel="noopener">
          {adminTexts.reference}
        </a>
      </nav>
      <div class="admin-body" key={section}>
        {section === 'models' && <Models calls={calls} modelChanged={props.modelChanged} />}
        {section === 'keys' && <Keys calls={calls} />}
        {section === 'agents' && <Agents calls={calls} agentsChanged={props.agentsChanged} tryAgent={props.tryAgent} />}
        {section === 'actions' && <Actions calls={calls} />}
        {section === 'usage' && <Usage calls={calls} />}
        {section === 'audit' && <Audit calls={calls} />}
        {section === 'packets' && <Packets service={service} />}
      </div>
    </section>
  )
}
