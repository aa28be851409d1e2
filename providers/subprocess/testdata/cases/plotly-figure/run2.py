fig
