import { isServed, type AdminSection } from '../address.ts'
import type { ServiceCalls } from '../service/calls.ts'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { Actions } from './actions.tsx'
import { AdminTabs } from './admin-tabs.tsx'
import { Agents } from './agents.tsx'
import { Audit } from './audit.tsx'
import { Keys } from './keys.tsx'
import { Models } from './models.tsx'
import { Packets } from './packets.tsx'
import { Usage } from './usage.tsx'
import '../styles/admin.css'

interface AdminViewProps {
  readonly section: AdminSection
  readonly calls: ServiceCalls
  readonly service: Service
  readonly modelChanged: () => void
  readonly agentsChanged: () => void
  readonly tryAgent: (agentId: number) => void
}

export function AdminView({ section: named, calls, service, ...props }: AdminViewProps) {
  const section = isServed(named) ? named : 'usage'
  return (
    <section class="admin u-view" aria-labelledby="admin-title">
      <h1 id="admin-title">{texts.frame.administration}</h1>
      <AdminTabs shown={section} baseUrl={calls.baseUrl} />
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
