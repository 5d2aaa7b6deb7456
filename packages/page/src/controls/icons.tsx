import type { ComponentChildren, JSX } from 'preact'

/** A line drawing of 20 by 20 units in the colour of the text beside it; hidden from screen readers. */
function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 20 20"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  )
}

type IconView = () => JSX.Element

/** An icon of lines alone. @param path as in the attribute `d` */
/* @__NO_SIDE_EFFECTS__ */
function drawn(path: string): IconView {
  return () => (
    <Icon>
      <path d={path} />
    </Icon>
  )
}

export const SendIcon: IconView = drawn('M10 16V4.5M4.8 9.5 10 4.3l5.2 5.2')
export const CheckIcon: IconView = drawn('m4.5 10.5 3.6 3.6 7.4-8')
export const RetryIcon: IconView = drawn('M15.8 10a5.8 5.8 0 1 1-1.7-4.1L16 7.8M16 4v3.8h-3.8')
export const PlusIcon: IconView = drawn('M10 4.5v11M4.5 10h11')
export const BinIcon: IconView = drawn(
  'M4 5.8h12M8 5.6V4h4v1.6M5.6 5.8l.7 9.2c.1.6.5 1 1.1 1h5.2c.6 0 1-.4 1.1-1l.7-9.2',
)
export const ChevronIcon: IconView = drawn('m7.5 5 5 5-5 5')
export const OutIcon: IconView = drawn(
  'M8 5H5.5A1.5 1.5 0 0 0 4 6.5v8A1.5 1.5 0 0 0 5.5 16h8a1.5 1.5 0 0 0 1.5-1.5V12M11.5 4H16v4.5M16 4l-6.5 6.5',
)
export const ClipIcon: IconView = drawn(
  'm15.8 9.6-5.6 5.6a3.6 3.6 0 0 1-5.1-5.1l6-6a2.4 2.4 0 0 1 3.4 3.4l-5.8 5.8a1.2 1.2 0 0 1-1.7-1.7l5.3-5.3',
)
export const FileIcon: IconView = drawn(
  'M6 3.8h5l3.5 3.5v8.2a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4.8a1 1 0 0 1 1-1ZM11 3.8v3.5h3.5',
)
export const PenIcon: IconView = drawn(
  'm4.5 15.5.6-3.1 7.6-7.6a1.4 1.4 0 0 1 2 0l.5.5a1.4 1.4 0 0 1 0 2l-7.6 7.6-3.1.6Z',
)
export const CloseIcon: IconView = drawn('m6 6 8 8M14 6l-8 8')
export const DownIcon: IconView = drawn('M10 4.5V15M5 10.2l5 5 5-5')
export const LikeIcon: IconView = drawn(
  'M7 9.2 9.6 4c1 0 1.8.8 1.8 1.8v2.4h3.3c.9 0 1.6.8 1.4 1.7l-.9 4.6c-.1.7-.7 1.2-1.4 1.2H7M7 9.2v6.5M7 9.2H4.5v6.5H7',
)
export const DislikeIcon: IconView = drawn(
  'M13 10.8 10.4 16c-1 0-1.8-.8-1.8-1.8v-2.4H5.3c-.9 0-1.6-.8-1.4-1.7l.9-4.6c.1-.7.7-1.2 1.4-1.2H13M13 10.8V4.3M13 10.8h2.5V4.3H13',
)
export const SparkIcon: IconView = drawn(
  'M10 3.8c.5 3.6 2.6 5.7 6.2 6.2-3.6.5-5.7 2.6-6.2 6.2-.5-3.6-2.6-5.7-6.2-6.2 3.6-.5 5.7-2.6 6.2-6.2Z',
)
export const ToolIcon: IconView = drawn('m5 6 3.5 3.5L5 13M10.5 14H15')
export const LeftIcon: IconView = drawn('m12.5 5-5 5 5 5')
export const ShareIcon: IconView = drawn('M10 12.5v-9M6.8 6.6 10 3.4l3.2 3.2M6 9.2H5v6.3h10V9.2h-1')
export const SaveIcon: IconView = drawn('M10 4v8.6M6.6 9.4l3.4 3.4 3.4-3.4M4.5 15.8h11')
export const QuoteIcon: IconView = drawn(
  'M8.6 6.2C6.4 7 5 8.8 5 11.2v2.6h3.6v-3.6H6.4M15.4 6.2c-2.2.8-3.6 2.6-3.6 5v2.6h3.6v-3.6h-2.2',
)
export const PinIcon: IconView = drawn('M7.2 3.8h5.6M8 3.8v4.6l-2.4 3.2h8.8L12 8.4V3.8M10 11.6v4.8')
export const UnpinIcon: IconView = drawn(
  'M7.2 3.8h5.6M8 3.8v.4M12 3.8v4.6l1.2 1.6M8 8.4l-2.4 3.2h6M10 11.6v4.8M4 4l12 12',
)
export const FolderIcon: IconView = drawn(
  'M3.5 6.2c0-.8.6-1.4 1.4-1.4h3l1.6 1.9h5.6c.8 0 1.4.6 1.4 1.4v5.7c0 .8-.6 1.4-1.4 1.4H4.9c-.8 0-1.4-.6-1.4-1.4Z',
)

export const StopIcon = () => (
  <Icon>
    <rect x="5.5" y="5.5" width="9" height="9" rx="1.6" fill="currentColor" stroke="none" />
  </Icon>
)

export const CopyIcon = () => (
  <Icon>
    <rect x="7" y="7" width="9" height="9" rx="2" />
    <path d="M13 4.8A2 2 0 0 0 11.2 4H6a2 2 0 0 0-2 2v5.2A2 2 0 0 0 4.8 13" />
  </Icon>
)

export const SearchIcon = () => (
  <Icon>
    <circle cx="9" cy="9" r="4.8" />
    <path d="m12.6 12.6 3.4 3.4" />
  </Icon>
)

export const ResearchIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="6.2" />
    <path d="m12.8 7.2-1.6 4-4 1.6 1.6-4 4-1.6Z" />
  </Icon>
)

export const SidebarIcon = () => (
  <Icon>
    <rect x="3.5" y="4.5" width="13" height="11" rx="2" />
    <path d="M8 4.5v11" />
  </Icon>
)

export const MoreIcon = () => (
  <Icon>
    <path d="M4.8 10h.01M10 10h.01M15.2 10h.01" stroke-width="2.6" />
  </Icon>
)

export const SlidersIcon = () => (
  <Icon>
    <path d="M4 6.5h6.5M14 6.5h2M4 13.5h2M9.5 13.5H16" />
    <circle cx="12.2" cy="6.5" r="1.8" />
    <circle cx="7.8" cy="13.5" r="1.8" />
  </Icon>
)

/** The logo of Inlay: one shape set into another. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 28 28" width="28" height="28" aria-hidden="true">
    <rect class="mark-ground" x="1" y="1" width="26" height="26" rx="7" />
    <path class="mark-inlay" d="M14 6.5 21.5 14 14 21.5 6.5 14Z" />
    <path class="mark-seam" d="M14 10.2 17.8 14 14 17.8 10.2 14Z" />
  </svg>
)
