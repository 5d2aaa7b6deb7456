import { Component, type ComponentType, type JSX } from 'preact'

/** A component that is drawn again only when one of its props is another value. */
export function pure<Props extends object>(View: ComponentType<Props>): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      return Object.entries(next).some(([name, value]) => Reflect.get(this.props, name) !== value)
    }

    override render(): JSX.Element {
      return <View {...this.props} />
    }
  }
}
