import type { Block } from '@inlay/protocol'
import { Icon, type IconName } from '../controls/icons.tsx'

const toolIcons: Readonly<Record<string, IconName>> = {
  internal_search: 'search',
  web_search: 'search',
  open_url: 'out',
  read_file: 'file',
  generate_image: 'pen',
  add_memory: 'clip',
}

export function StepIcon({ step }: { step: Exclude<Block, { kind: 'text' }> }) {
  return (
    <span class="step-icon u-inline-flex u-center u-muted">
      <Icon name={iconOf(step)} />
    </span>
  )
}

function iconOf(step: Exclude<Block, { kind: 'text' }>): IconName {
  if (step.kind === 'tool') return (Object.hasOwn(toolIcons, step.toolName) && toolIcons[step.toolName]) || 'tool'
  return step.kind === 'research' ? 'research' : 'spark'
}
