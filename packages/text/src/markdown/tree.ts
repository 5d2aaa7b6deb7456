export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'break' }
  | {
      readonly kind: 'strong' | 'em' | 'del' | 'sub' | 'sup' | 'kbd' | 'mark' | 'u'
      readonly inlines: readonly Inline[]
    }
  /** `href` is a URL that a page may open; otherwise undefined. */
  | { readonly kind: 'link'; readonly href: string | undefined; readonly inlines: readonly Inline[] }
  /** A picture. It must not be loaded, since its owner would learn who reads it. */
  | { readonly kind: 'image'; readonly href: string | undefined; readonly text: string }
  /** A rendered citation, `[[1]](link)`. */
  | { readonly kind: 'citation'; readonly number: number; readonly href: string | undefined }
  /** A reference to a footnote; plain text if the document has no footnote with this label. */
  | { readonly kind: 'footnote'; readonly label: string }
  /** In TeX. */
  | { readonly kind: 'math'; readonly text: string }

export type Alignment = 'left' | 'center' | 'right' | null

/** Kinds of alerts, in GitHub's syntax: `> [!NOTE]`. */
export type AlertKind = 'note' | 'tip' | 'important' | 'warning' | 'caution'

/** A list item; `isChecked` is null if it is not a task. */
export interface ListItem {
  readonly isChecked: boolean | null
  readonly blocks: readonly Block[]
}

export type Block =
  | { readonly kind: 'paragraph'; readonly inlines: readonly Inline[] }
  | { readonly kind: 'heading'; readonly level: number; readonly inlines: readonly Inline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'math'; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | { readonly kind: 'alert'; readonly alert: AlertKind; readonly blocks: readonly Block[] }
  | {
      readonly kind: 'details'
      readonly summary: readonly Inline[]
      readonly isOpen: boolean
      readonly blocks: readonly Block[]
    }
  /** `start` is undefined for a list without numbers. Paragraphs of a tight list have no space between them. */
  | {
      readonly kind: 'list'
      readonly start: number | undefined
      readonly isTight: boolean
      readonly items: readonly ListItem[]
    }
  | {
      readonly kind: 'table'
      readonly alignments: readonly Alignment[]
      readonly header: readonly (readonly Inline[])[]
      readonly rows: readonly (readonly (readonly Inline[])[])[]
    }
  | { readonly kind: 'rule' }

export interface Footnote {
  readonly label: string
  /** Number of the footnote, from 1, in the order of definitions. */
  readonly number: number
  readonly blocks: readonly Block[]
}

export interface MarkdownDocument {
  readonly blocks: readonly Block[]
  readonly footnotes: readonly Footnote[]
}
