import { IconButton } from '../controls/icon-button.tsx'
import { Icon } from '../controls/icons.tsx'
import { texts } from '../texts/texts.ts'

export function InProject({ name, leave }: { name: string; leave: () => void }) {
  return (
    <p class="in-project u-row u-gap-8 u-note">
      <Icon name="folder" />
      <span dir="auto">{texts.projects.inProject(name)}</span>
      <IconButton icon="close" label={texts.projects.leaveProject} onClick={leave} />
    </p>
  )
}
