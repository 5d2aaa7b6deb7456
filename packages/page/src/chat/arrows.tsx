import type { IconName } from '../controls/icons.tsx'
import { IconButton } from '../controls/icon-button.tsx'
import { texts } from '../texts/texts.ts'

interface ArrowsProps {
  readonly of: 'question' | 'answer'
  readonly ids: readonly number[]
  readonly shown: number | null
  readonly isDisabled: boolean
  readonly choose: (messageId: number) => void
}

export function Arrows({ of, ids, shown, isDisabled, choose }: ArrowsProps) {
  const at = shown === null ? -1 : ids.indexOf(shown)
  if (ids.length < 2 || at < 0) return null
  const { questionVersions, previousQuestion, nextQuestion, answerVersions, previousAnswer, nextAnswer } = texts.chat
  const isQuestion = of === 'question'
  const arrow = (to: number, label: string, icon: IconName) => {
    const id = ids[to]
    return (
      <IconButton
        icon={icon}
        label={label}
        disabled={isDisabled}
        // Not disabled, or the first and the last version would take the focus away.
        aria-disabled={id === undefined}
        onClick={() => id !== undefined && choose(id)}
      />
    )
  }
  return (
    <span
      class="arrows u-inline-flex u-center u-small"
      role="group"
      aria-label={isQuestion ? questionVersions : answerVersions}
    >
      {arrow(at - 1, isQuestion ? previousQuestion : previousAnswer, 'left')}
      <span class="count">{`${at + 1}/${ids.length}`}</span>
      {arrow(at + 1, isQuestion ? nextQuestion : nextAnswer, 'chevron')}
    </span>
  )
}
