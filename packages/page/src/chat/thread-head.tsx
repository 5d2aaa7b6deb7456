import { useState } from 'preact/hooks'
import { FailureNote } from '../controls/failure-note.tsx'
import { Icon } from '../controls/icons.tsx'
import { Menu } from '../controls/menu.tsx'
import { saveFile } from '../controls/save-file.ts'
import { ProjectChoice } from '../projects/project-choice.tsx'
import type { Projects } from '../projects/projects.ts'
import { toFailure, type Failure } from '../service/failure.ts'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { exported } from './export.ts'
import { SharePanel } from './share-panel.tsx'
import { Button } from '../controls/button.tsx'

interface ThreadHeadProps {
  readonly sessionId: string
  readonly projects: Projects
  readonly service: Pick<Service, 'chat' | 'share'>
}

export function ThreadHead({ sessionId, projects, service }: ThreadHeadProps) {
  const [isSharing, setIsSharing] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const save = (kind: 'markdown' | 'json'): void => {
    setFailure(null)
    service.chat(sessionId).then(
      (session) => saveFile(exported(session, kind)),
      (error: unknown) => setFailure(toFailure(error)),
    )
  }
  const { share, export: exportLabel, exportMarkdown, exportJson, print: printLabel } = texts.chat
  return (
    <div class="thread-head u-row u-wrap u-gap-4 u-sticky u-ground u-to-end">
      <ProjectChoice projects={projects} sessionId={sessionId} failed={(error) => setFailure(toFailure(error))} />
      <Button aria-expanded={isSharing} onClick={() => setIsSharing(!isSharing)}>
        <Icon name="share" />
        {share}
      </Button>
      <Menu
        label={exportLabel}
        icon="save"
        entries={[
          { label: exportMarkdown, act: () => save('markdown') },
          { label: exportJson, act: () => save('json') },
          { label: printLabel, act: () => print() },
        ]}
      />
      {isSharing && (
        <SharePanel key={sessionId} sessionId={sessionId} service={service} close={() => setIsSharing(false)} />
      )}
      {failure !== null && <FailureNote failure={failure} />}
    </div>
  )
}
